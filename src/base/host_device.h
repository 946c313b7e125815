// HOIST_HD marks an inline function that CPU and CUDA code share, such as the arithmetic of a
// format: __host__ __device__ for nvcc, nothing for other compilers.
#pragma once

#ifdef __CUDACC__
#define HOIST_HD __host__ __device__
#else
#define HOIST_HD
#endif
