// Elements of one view as those of another.
//
//   copy_elements(from, to);  // the same shape; types and strides of their own
//
// Both lie in host memory, and do not overlap unless they are the same. Types are booleans,
// integers of 8 to 64 bits, f16, bf16, f32 and f64; of one type to itself any whose elements are
// whole bytes. Of one type to itself bits are kept. Otherwise as C++ converts: integers wrap,
// floats are rounded to nearest, once, ties to even; a float becomes an integer by truncation,
// what is too large or too small the type's last number, NaN 0; a boolean is whether it is not 0.
#pragma once

#include "array/view.h"

namespace hoist::array {

// Whether elements can be converted from and to that type.
bool is_convertible(DType dtype);

void copy_elements(const View& from, const View& to);

// Whether some byte may belong to both: of the ranges that they span.
bool may_overlap(const View& a, const View& b);

}  // namespace hoist::array
