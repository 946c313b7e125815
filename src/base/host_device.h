// HOIST_HD marks an inline function that CPU and CUDA code share, such as the arithmetic of a
// format: __host__ __device__ for nvcc, nothing for other compilers. HOIST_UNROLL, before a loop of
// it, has nvcc unroll it.
#pragma once

#ifdef __CUDACC__
#define HOIST_HD __host__ __device__
#define HOIST_UNROLL _Pragma("unroll")
#else
#define HOIST_HD
#define HOIST_UNROLL
#endif
