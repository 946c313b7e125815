// The 74 calls of hologram_ffi on handles: what Python and C bind. Handles, names and order of
// arguments are those of the original; docs/reference/hologram-ffi.md says what each does and where
// it differs.
//
// Errors: `not_found` for a handle that names nothing of its kind, `corrupt` for JSON, `exhausted`
// for classes and memory, else `invalid_argument`. A call that fails has changed nothing.
//
// Any thread may call anything; accesses to one buffer's elements are the caller's to order. Calls
// that take a Lifetime are the frequent ones (handle_table.h); the others pin what they use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/ffi/handle_table.h"
#include "graph/ops/kernels.h"

namespace hoist::graph::ffi {

inline constexpr std::string_view kVersion = "0.1.0";

// Executors (executors.cc)
Result<uint64_t> new_executor();
// 0 for a backend that is not "cpu", in any case of letters.
Result<uint64_t> new_executor_with_backend(std::string_view backend);
void executor_cleanup(uint64_t executor);
Result<uint64_t> allocate_buffer(uint64_t executor, uint32_t length);
Result<uint64_t> allocate_boundary_buffer(uint64_t executor, uint8_t class_index, uint32_t width,
                                          uint32_t height);
// Memory of somebody else's as a linear buffer, without a copy; dropped with the last user of it.
Result<uint64_t> adopt_buffer(uint64_t executor, std::shared_ptr<std::byte> memory, uint32_t length,
                              bool is_read_only);
void clear_all_registries();

// Buffers (buffers.cc)
struct BufferFacts {
  uint32_t length = 0;
  bool is_boundary = false;
  bool is_read_only = false;
  uint8_t class_index = 0;
  float* data = nullptr;
  std::shared_ptr<std::byte> memory;  // keeps `data` alive
};
Result<BufferFacts> buffer_facts(uint64_t buffer);
Result<uint32_t> buffer_length(uint64_t buffer);
void buffer_cleanup(uint64_t buffer);
// As many values as the buffer has elements.
Status copy_from(uint64_t executor, uint64_t buffer, std::span<const float> values);
Status copy_from_json(uint64_t executor, uint64_t buffer, std::string_view json);
Status copy_from_canonical_json(uint64_t executor, uint64_t buffer, std::string_view json);
Status copy_from_bytes(uint64_t executor, uint64_t buffer, std::span<const std::byte> bytes);
Result<std::string> to_json(uint64_t executor, uint64_t buffer);
Result<std::vector<std::byte>> to_bytes(uint64_t executor, uint64_t buffer);
// 0 where it is read-only and `is_written`.
Result<uint64_t> address(uint64_t executor, uint64_t buffer, bool is_written);
// The first `length` elements.
Status fill(uint64_t executor, uint64_t buffer, float value, uint32_t length, Lifetime lifetime);
Status copy(uint64_t executor, uint64_t from, uint64_t to, uint32_t length, Lifetime lifetime);
// Clears the lowest bit of every byte.
Status canonicalize(uint64_t executor, uint64_t buffer);
Result<bool> is_canonical(uint64_t executor, uint64_t buffer);

// Operations (operations.cc); `length` elements from the beginning.
Status apply(Binary operation, uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
             uint32_t length, Lifetime lifetime);
// softmax over these elements.
Status apply(Unary operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t length,
             Lifetime lifetime);
Status apply(Scalar operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t length,
             float number, Lifetime lifetime);
Status clip(uint64_t executor, uint64_t a, uint64_t c, uint32_t length, float low, float high,
            Lifetime lifetime);
// These write output[0], of at least three elements, and give what they wrote.
Result<float> reduce_sum(uint64_t executor, uint64_t input, uint64_t output, uint32_t length,
                         Lifetime lifetime);
Result<float> reduce(Extreme which, uint64_t executor, uint64_t input, uint64_t output,
                     uint32_t length, Lifetime lifetime);
Result<float> loss(LossSum which, uint64_t executor, uint64_t predictions, uint64_t targets,
                   uint64_t output, uint32_t length, Lifetime lifetime);
// C(m x n) = A(m x k) B(k x n), row-major.
Status gemm(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t m, uint32_t n,
            uint32_t k, Lifetime lifetime);
// y(m) = A(m x n) x(n)
Status matvec(uint64_t executor, uint64_t a, uint64_t x, uint64_t y, uint32_t m, uint32_t n,
              Lifetime lifetime);

// Tensors (tensors.cc, tensor_views.cc)
struct TensorFacts {
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;
  uint32_t offset = 0;
  uint32_t elements = 0;
  bool is_contiguous = false;
  bool is_read_only = false;
  float* data = nullptr;              // of the first element
  std::shared_ptr<std::byte> memory;  // keeps `data` alive
};
Result<TensorFacts> tensor_facts(uint64_t tensor);
Result<uint64_t> tensor_from_buffer(uint64_t buffer, std::string_view shape_json);
Result<uint64_t> tensor_from_buffer_with_strides(uint64_t buffer, std::string_view shape_json,
                                                 std::string_view strides_json);
Result<uint64_t> tensor_contiguous(uint64_t executor, uint64_t tensor);
Result<uint64_t> tensor_transpose(uint64_t tensor);
Result<uint64_t> tensor_reshape(uint64_t executor, uint64_t tensor, std::string_view shape_json);
Result<uint64_t> tensor_permute(uint64_t tensor, std::string_view dims_json);
Result<uint64_t> tensor_view_1d(uint64_t tensor);
Result<uint64_t> tensor_select(uint64_t tensor, uint32_t dim, uint32_t index);
Result<uint64_t> tensor_narrow(uint64_t tensor, uint32_t dim, uint32_t start, uint32_t length);
Result<uint64_t> tensor_slice(uint64_t tensor, uint32_t dim, int32_t start, int32_t end,
                              int32_t step);
Result<uint64_t> tensor_matmul(uint64_t executor, uint64_t a, uint64_t b);
Result<bool> tensor_is_broadcast_compatible(uint64_t a, uint64_t b);
Result<std::string> tensor_broadcast_shapes(std::string_view a_json, std::string_view b_json);
Result<uint64_t> tensor_buffer(uint64_t tensor);
void tensor_cleanup(uint64_t tensor);

}  // namespace hoist::graph::ffi
