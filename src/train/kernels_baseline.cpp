#define SINKPROOF_KERNELS baseline_kernels
#include "train/kernels_body.hpp"
