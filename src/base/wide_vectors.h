// For the target attribute of a function that is to use registers of 512 bits: GCC prefers those of
// 256 for many CPUs unless told otherwise; clang takes them for vectors of that size and knows no
// such word.
#pragma once

#ifdef __clang__
#define HOIST_WIDE_VECTORS ""
#else
#define HOIST_WIDE_VECTORS ",prefer-vector-width=512"
#endif
