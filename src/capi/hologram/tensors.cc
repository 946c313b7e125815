#include "capi/hologram/answer.h"
#include "graph/ffi/json.h"
#include "graph/ffi/session.h"

using namespace hoist::capi::hologram;
using hoist::Result;
namespace ffi = hoist::graph::ffi;

namespace {

// get(facts) of a tensor.
template <typename T, typename Get>
T fact(uint64_t tensor, const Get& get) {
  return give<T>([&]() -> Result<T> {
    const Result<ffi::TensorFacts> facts = ffi::tensor_facts(tensor);
    if (!facts) return facts.error();
    return static_cast<T>(get(*facts));
  });
}

template <typename Get>
char* sizes(uint64_t tensor, const Get& get) {
  return give_text([&]() -> Result<std::string> {
    const Result<ffi::TensorFacts> facts = ffi::tensor_facts(tensor);
    if (!facts) return facts.error();
    return ffi::write_sizes(get(*facts));
  });
}

}  // namespace

extern "C" {

uint64_t hologram_tensor_from_buffer(uint64_t buffer, const char* shape_json) {
  return give<uint64_t>([&]() -> Result<uint64_t> {
    if (shape_json == nullptr) return null_text("shape_json");
    return ffi::tensor_from_buffer(buffer, shape_json);
  });
}

uint64_t hologram_tensor_from_buffer_with_strides(uint64_t buffer, const char* shape_json,
                                                  const char* strides_json) {
  return give<uint64_t>([&]() -> Result<uint64_t> {
    if (shape_json == nullptr) return null_text("shape_json");
    if (strides_json == nullptr) return null_text("strides_json");
    return ffi::tensor_from_buffer_with_strides(buffer, shape_json, strides_json);
  });
}

char* hologram_tensor_shape(uint64_t tensor) {
  return sizes(tensor, [](const auto& it) { return it.shape; });
}

char* hologram_tensor_strides(uint64_t tensor) {
  return sizes(tensor, [](const auto& it) { return it.strides; });
}

uint32_t hologram_tensor_offset(uint64_t tensor) {
  return fact<uint32_t>(tensor, [](const auto& it) { return it.offset; });
}

uint32_t hologram_tensor_ndim(uint64_t tensor) {
  return fact<uint32_t>(tensor, [](const auto& it) { return it.shape.size(); });
}

uint32_t hologram_tensor_numel(uint64_t tensor) {
  return fact<uint32_t>(tensor, [](const auto& it) { return it.elements; });
}

uint8_t hologram_tensor_is_contiguous(uint64_t tensor) {
  return fact<uint8_t>(tensor, [](const auto& it) { return it.is_contiguous; });
}

uint64_t hologram_tensor_contiguous(uint64_t executor, uint64_t tensor) {
  return give<uint64_t>([&] { return ffi::tensor_contiguous(executor, tensor); });
}

uint64_t hologram_tensor_transpose(uint64_t tensor) {
  return give<uint64_t>([&] { return ffi::tensor_transpose(tensor); });
}

uint64_t hologram_tensor_reshape(uint64_t executor, uint64_t tensor, const char* new_shape_json) {
  return give<uint64_t>([&]() -> Result<uint64_t> {
    if (new_shape_json == nullptr) return null_text("new_shape_json");
    return ffi::tensor_reshape(executor, tensor, new_shape_json);
  });
}

uint64_t hologram_tensor_permute(uint64_t tensor, const char* dims_json) {
  return give<uint64_t>([&]() -> Result<uint64_t> {
    if (dims_json == nullptr) return null_text("dims_json");
    return ffi::tensor_permute(tensor, dims_json);
  });
}

uint64_t hologram_tensor_view_1d(uint64_t tensor) {
  return give<uint64_t>([&] { return ffi::tensor_view_1d(tensor); });
}

uint64_t hologram_tensor_select(uint64_t tensor, uint32_t dim, uint32_t index) {
  return give<uint64_t>([&] { return ffi::tensor_select(tensor, dim, index); });
}

uint64_t hologram_tensor_narrow(uint64_t tensor, uint32_t dim, uint32_t start, uint32_t length) {
  return give<uint64_t>([&] { return ffi::tensor_narrow(tensor, dim, start, length); });
}

uint64_t hologram_tensor_slice(uint64_t tensor, uint32_t dim, int32_t start, int32_t end,
                               int32_t step) {
  return give<uint64_t>([&] { return ffi::tensor_slice(tensor, dim, start, end, step); });
}

uint64_t hologram_tensor_matmul(uint64_t executor, uint64_t a, uint64_t b) {
  return give<uint64_t>([&] { return ffi::tensor_matmul(executor, a, b); });
}

uint8_t hologram_tensor_is_broadcast_compatible_with(uint64_t a, uint64_t b) {
  return give<uint8_t>([&] { return ffi::tensor_is_broadcast_compatible(a, b); });
}

char* hologram_tensor_broadcast_shapes(const char* shape_a_json, const char* shape_b_json) {
  return give_text([&]() -> Result<std::string> {
    if (shape_a_json == nullptr) return null_text("shape_a_json");
    if (shape_b_json == nullptr) return null_text("shape_b_json");
    return ffi::tensor_broadcast_shapes(shape_a_json, shape_b_json);
  });
}

uint64_t hologram_tensor_buffer(uint64_t tensor) {
  return give<uint64_t>([&] { return ffi::tensor_buffer(tensor); });
}

void hologram_tensor_cleanup(uint64_t tensor) {
  dropped([&] { ffi::tensor_cleanup(tensor); });
}
}
