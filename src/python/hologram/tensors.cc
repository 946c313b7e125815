// Tensors: views of buffers by shape and strides.
#include <algorithm>
#include <cstdint>

#include "graph/ffi/json.h"
#include "python/hologram/call.h"
#include "python/hologram/calls.h"

namespace hoist::python::hologram {
namespace {

namespace ffi = graph::ffi;

template <typename Get>
auto fact(uint64_t tensor, const Get& get)
    -> Result<decltype(get(std::declval<ffi::TensorFacts&>()))> {
  const Result<ffi::TensorFacts> facts = ffi::tensor_facts(tensor);
  if (!facts) return facts.error();
  return get(*facts);
}

Result<std::string> shape(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return ffi::write_sizes(it.shape); });
}
Result<std::string> strides(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return ffi::write_sizes(it.strides); });
}
Result<uint32_t> offset(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return it.offset; });
}
Result<uint32_t> ndim(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return static_cast<uint32_t>(it.shape.size()); });
}
Result<uint32_t> numel(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return it.elements; });
}
Result<bool> is_contiguous(uint64_t tensor) {
  return fact(tensor, [](const auto& it) { return it.is_contiguous; });
}

// Elements that are copied in some 10 us.
constexpr uint32_t kShort = 16384;

bool is_short(uint64_t tensor) {
  const Result<ffi::TensorFacts> facts = ffi::tensor_facts(tensor);
  return !facts || facts->elements < kShort;
}

Result<uint64_t> contiguous(uint64_t executor, uint64_t tensor) {
  return with_lock_if_short(
      is_short(tensor), [&](ffi::Lifetime) { return ffi::tensor_contiguous(executor, tensor); });
}

Result<uint64_t> reshape(uint64_t executor, uint64_t tensor, std::string_view shape) {
  return with_lock_if_short(is_short(tensor), [&](ffi::Lifetime) {
    return ffi::tensor_reshape(executor, tensor, shape);
  });
}

// Whether the product, where there is one, is computed in some 10 us. An extent beside none of
// elements may be any.
bool is_short_product(uint64_t a, uint64_t b) {
  constexpr uint64_t kShortProduct = 1 << 18;
  const Result<ffi::TensorFacts> left = ffi::tensor_facts(a);
  const Result<ffi::TensorFacts> right = ffi::tensor_facts(b);
  if (!left || !right || left->shape.size() != 2 || right->shape.size() != 2) return true;
  const uint64_t rows = std::min<uint64_t>(left->shape[0], UINT32_MAX);
  const uint64_t columns = std::min<uint64_t>(right->shape[1], UINT32_MAX);
  return left->elements * columns < kShortProduct && rows * columns < kShortProduct &&
         right->elements < kShortProduct;
}

Result<uint64_t> matmul(uint64_t executor, uint64_t a, uint64_t b) {
  return with_lock_if_short(is_short_product(a, b),
                            [&](ffi::Lifetime) { return ffi::tensor_matmul(executor, a, b); });
}

constexpr const char* kTensor = "tensor_handle";
constexpr const char* kBoth = "executor_handle tensor_handle";

#define HOIST_TENSOR "(tensor_handle)\n--\n\n"
#define HOIST_BOTH "(executor_handle, tensor_handle)\n--\n\n"

constexpr Call kFromBuffer{"tensor_from_buffer", "buffer_handle shape_json",
                           "tensor_from_buffer(buffer_handle, shape_json)\n--\n\n"
                           "A linear buffer's elements in row-major order.",
                           ffi::tensor_from_buffer};
constexpr Call kFromBufferWithStrides{
    "tensor_from_buffer_with_strides", "buffer_handle shape_json strides_json",
    "tensor_from_buffer_with_strides(buffer_handle, shape_json, strides_json)\n--\n\n"
    "A linear buffer's elements by strides, counted in elements.",
    ffi::tensor_from_buffer_with_strides};
constexpr Call kShape{"tensor_shape", kTensor, "tensor_shape" HOIST_TENSOR "A JSON array.", shape};
constexpr Call kStrides{"tensor_strides", kTensor,
                        "tensor_strides" HOIST_TENSOR "A JSON array, in elements.", strides};
constexpr Call kOffset{"tensor_offset", kTensor,
                       "tensor_offset" HOIST_TENSOR "The first element's place in the buffer.",
                       offset};
constexpr Call kNdim{"tensor_ndim", kTensor, "tensor_ndim" HOIST_TENSOR "Its dimensions.", ndim};
constexpr Call kNumel{"tensor_numel", kTensor, "tensor_numel" HOIST_TENSOR "Its elements.", numel};
constexpr Call kIsContiguous{"tensor_is_contiguous", kTensor,
                             "tensor_is_contiguous" HOIST_TENSOR
                             "1 where the strides are those of the shape in row-major order.",
                             is_contiguous};
constexpr Call kContiguous{"tensor_contiguous", kBoth,
                           "tensor_contiguous" HOIST_BOTH
                           "The same elements without gaps: a copy where need be.",
                           contiguous};
constexpr Call kTranspose{"tensor_transpose", kTensor,
                          "tensor_transpose" HOIST_TENSOR "A view of a matrix, turned.",
                          ffi::tensor_transpose};
constexpr Call kReshape{"tensor_reshape", "executor_handle tensor_handle new_shape_json",
                        "tensor_reshape(executor_handle, tensor_handle, new_shape_json)\n--\n\n"
                        "As many elements in another shape: a copy where there are gaps.",
                        reshape};
constexpr Call kPermute{"tensor_permute", "tensor_handle dims_json",
                        "tensor_permute(tensor_handle, dims_json)\n--\n\n"
                        "A view with the dimensions in that order.",
                        ffi::tensor_permute};
constexpr Call kView1d{"tensor_view_1d", kTensor,
                       "tensor_view_1d" HOIST_TENSOR "A view of all elements in one dimension.",
                       ffi::tensor_view_1d};
constexpr Call kSelect{"tensor_select", "tensor_handle dim index",
                       "tensor_select(tensor_handle, dim, index)\n--\n\n"
                       "A view of one index of a dimension, without it.",
                       ffi::tensor_select};
constexpr Call kNarrow{"tensor_narrow", "tensor_handle dim start length",
                       "tensor_narrow(tensor_handle, dim, start, length)\n--\n\n"
                       "A view of a part of a dimension.",
                       ffi::tensor_narrow};
constexpr Call kSlice{"tensor_slice", "tensor_handle dim start end step",
                      "tensor_slice(tensor_handle, dim, start, end, step)\n--\n\n"
                      "A view of every step-th index of a dimension; negative numbers are None.",
                      ffi::tensor_slice};
constexpr Call kMatmul{"tensor_matmul", "executor_handle a_handle b_handle",
                       "tensor_matmul(executor_handle, a_handle, b_handle)\n--\n\n"
                       "The product of two matrices, as a new tensor.",
                       matmul};
constexpr Call kIsBroadcastCompatible{
    "tensor_is_broadcast_compatible_with", "a_handle b_handle",
    "tensor_is_broadcast_compatible_with(a_handle, b_handle)\n--\n\n1 or 0, by NumPy's rule.",
    ffi::tensor_is_broadcast_compatible};
constexpr Call kBroadcastShapes{"tensor_broadcast_shapes", "shape_a_json shape_b_json",
                                "tensor_broadcast_shapes(shape_a_json, shape_b_json)\n--\n\n"
                                "The shape that both broadcast to, as JSON.",
                                ffi::tensor_broadcast_shapes};
constexpr Call kBuffer{"tensor_buffer", kTensor,
                       "tensor_buffer" HOIST_TENSOR "A handle of its buffer.", ffi::tensor_buffer};
constexpr Call kCleanup{"tensor_cleanup", kTensor,
                        "tensor_cleanup" HOIST_TENSOR "Drops the handle.", ffi::tensor_cleanup};

}  // namespace

PyMethodDef* tensor_methods() {
  static PyMethodDef methods[] = {method<kFromBuffer>(),      method<kFromBufferWithStrides>(),
                                  method<kShape>(),           method<kStrides>(),
                                  method<kOffset>(),          method<kNdim>(),
                                  method<kNumel>(),           method<kIsContiguous>(),
                                  method<kContiguous>(),      method<kTranspose>(),
                                  method<kReshape>(),         method<kPermute>(),
                                  method<kView1d>(),          method<kSelect>(),
                                  method<kNarrow>(),          method<kSlice>(),
                                  method<kMatmul>(),          method<kIsBroadcastCompatible>(),
                                  method<kBroadcastShapes>(), method<kBuffer>(),
                                  method<kCleanup>(),         {}};
  return methods;
}

}  // namespace hoist::python::hologram
