// Arrays: element types, and views of arrays in any memory. Part of Hoist's C++ library:
//
//   find_package(hoist REQUIRED)                        # CMake
//   target_link_libraries(program PRIVATE hoist::hoist)
//
// A view is a pointer, a device, an element type, extents and strides, all inline, in the shape of
// DLPack's DLTensor. It owns nothing, and making one copies nothing:
//
//   std::vector<float> weights(64 * 48);
//   const std::array<uint64_t, 2> shape = {64, 48};
//   Result<View> view = View::of(weights.data(), DType::f32, shape);
//   if (!view) return view.error();
//   Result<View> rows = view->slice(0, 16, 32);  // rows 16 to 31: 16 x 48
//   if (!rows) return rows.error();
//   Result<View> turned = rows->transposed(0, 1);  // 48 x 16, the same memory
//   if (!turned) return turned.error();
//
// Names. Everything is in namespace hoist::array; errors, which all libraries share, in hoist.
//
//   View, DeviceId, DeviceKind                   array/view.h
//   DType, find_dtype(), properties(),           array/dtype.h
//   Shape, element_count(), byte_count()
//   to_f32(), from_f32()                         array/convert.h: any type but the complex ones as
//                                                f32, and back, rounded to nearest, ties to even
//   Result<T>, Status, Error, ErrorCode          base/result.h
//
// Element types are those of safetensors, by its names ("BF16"), and NumPy's complex128. Their
// numbers are written into files and never change. Strides are in elements, as DLPack's, and may be
// 0 or negative. Types whose elements share bytes (F4, F6) have views that are contiguous only.
//
// Errors are values: what can fail returns Result<T> or Status. Test one before you use it.
//
//   if (!view) std::cerr << view.error().message << '\n';
//
// Result::value() of a result without one throws std::runtime_error. Nothing else of the library
// throws on purpose; the standard library's std::bad_alloc may pass through.
//
// Thread safety: views and types are values; any number of threads may read one.
//
// Not promised: the ABI. The library's soname carries its full version, so that a program runs with
// the version that it was built with. Namespaces `detail` and members that are private may change
// at any time.
#pragma once

#include "array/convert.h"
#include "array/dtype.h"
#include "array/view.h"
#include "base/result.h"
