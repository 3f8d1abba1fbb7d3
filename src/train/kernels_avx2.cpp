#define SINKPROOF_KERNELS avx2_kernels
#include "train/kernels_body.hpp"
