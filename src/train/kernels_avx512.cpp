#define SINKPROOF_KERNELS avx512_kernels
#include "train/kernels_body.hpp"
