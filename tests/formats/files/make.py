"""Makes the files beside it with NumPy (1.24): what a reader meets in practice. Run: python3 make.py"""

import numpy as np

values = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
np.savez("savez.npz", a=values, b=np.float64(0.1), mask=np.tril(np.ones((2, 2), bool)))
np.savez_compressed("compressed.npz", a=np.zeros((50, 40)), b=values.astype(np.float16))
np.savez("objects.npz", a=values, config=np.array({"heads": 2}, dtype=object))
np.savez("orders.npz", fortran=np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)), big=values.astype(">f4"))
