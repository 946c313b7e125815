#include <algorithm>
#include <limits>

#include "graph/ffi/json.h"
#include "graph/ffi/session.h"
#include "graph/ffi/tensor_operands.h"
#include "graph/ops/product.h"

namespace hoist::graph::ffi {
namespace {

// Elements of a shape; they must fit the u32 that tensor_numel() gives.
Result<uint64_t> count_of(const Sizes& shape) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  uint64_t count = 1;
  for (const uint64_t extent : shape) {
    if (extent == 0) return uint64_t{0};
  }
  for (const uint64_t extent : shape) {
    if (extent > kMost || count * extent > kMost) {
      return invalid("the shape " + write_sizes(shape) +
                     " has more than 4294967295 elements: split it");
    }
    count *= extent;
  }
  return count;
}

// One more than the last element's position.
Result<uint64_t> reach_of(const Sizes& shape, const Sizes& strides) {
  unsigned __int128 reach = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return uint64_t{0};
    reach += static_cast<unsigned __int128>(shape[d] - 1) * strides[d];
  }
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return reach > kMost ? kMost : static_cast<uint64_t>(reach);
}

Result<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes shape(std::max(a.size(), b.size()));
  for (size_t back = 1; back <= shape.size(); ++back) {
    const uint64_t of_a = back <= a.size() ? a[a.size() - back] : 1;
    const uint64_t of_b = back <= b.size() ? b[b.size() - back] : 1;
    const size_t d = shape.size() - back;
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      return invalid("Shapes " + write_sizes(a) + " and " + write_sizes(b) +
                     " are not broadcast-compatible at dimension " + text(d));
    }
    shape[d] = of_a == 1 ? of_b : of_a;
  }
  return shape;
}

// The elements in row-major order.
void gather(const Tensor& tensor, float* to) {
  const uint64_t elements = tensor.elements();
  if (elements == 0) return;
  const size_t rank = tensor.shape.size();
  const uint64_t inner = rank == 0 ? 1 : tensor.shape.back();
  const uint64_t stride = rank == 0 ? 1 : tensor.strides.back();
  Sizes index(rank, 0);
  const float* from = tensor.data();
  for (uint64_t done = 0; done < elements; done += inner) {
    for (uint64_t i = 0; i < inner; ++i) *to++ = from[i * stride];
    for (size_t d = rank; d-- > 1;) {
      const size_t outer = d - 1;
      from += tensor.strides[outer];
      if (++index[outer] < tensor.shape[outer]) break;
      from -= tensor.strides[outer] * index[outer];
      index[outer] = 0;
    }
  }
}

// A tensor of its own for `shape`, all zeros.
Result<Tensor> allocate(Executor& executor, Sizes shape) {
  const Result<uint64_t> count = count_of(shape);
  if (!count) return count.error();
  Result<std::shared_ptr<Buffer>> buffer = executor.allocate(static_cast<uint32_t>(*count));
  if (!buffer) return buffer.error();
  Sizes strides = row_major(shape);
  return Tensor{*std::move(buffer), std::move(shape), std::move(strides), 0};
}

Result<Tensor> contiguous(Executor& executor, const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Result<Tensor> copy = allocate(executor, tensor.shape);
  if (copy) gather(tensor, copy->buffer->data());
  return copy;
}

// Whether the executor is the one of the tensor's buffer.
Status check_owner(const Operands& operands, uint64_t executor, const Tensor& tensor,
                   uint64_t handle) {
  if (tensor.buffer->executor() == &operands.executor()) return {};
  return invalid("Tensor handle " + text(handle) + " belongs to another executor than " +
                 text(executor) + ": pass the one that allocated its buffer");
}

// Registers make(executor, tensor).
template <typename Make>
Result<uint64_t> derive(uint64_t executor, uint64_t handle, const Make& make) {
  const Operands operands(executor, Lifetime::pinned);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundTensor tensor = find_tensor(handle);
  if (!tensor) return tensor_not_found(handle);
  if (Status ok = check_owner(operands, executor, tensor->tensor, handle); !ok) return ok.error();
  Result<Tensor> made = make(operands.executor(), tensor->tensor);
  if (!made) return made.error();
  return register_tensor(*std::move(made));
}

Result<uint64_t> from_buffer(uint64_t handle, Sizes shape, Sizes strides, const char* need) {
  const FoundBuffer found = handles().find<BufferEntry>(handle, Lifetime::pinned);
  if (!found) return buffer_not_found(handle);
  if (found->buffer->pool() != Buffer::Pool::linear) {
    return invalid("Tensor requires linear buffer: copy the boundary buffer to one");
  }
  if (shape.size() != strides.size()) {
    return invalid("Shape and strides must have same length: " + text(shape.size()) + " vs " +
                   text(strides.size()));
  }
  if (const Result<uint64_t> count = count_of(shape); !count) return count.error();
  const Result<uint64_t> reach = reach_of(shape, strides);
  if (*reach > found->length) {
    return invalid(std::string("Buffer too small: need ") + need + text(*reach) +
                   " elements, have " + text(found->length));
  }
  return register_tensor({found->buffer, std::move(shape), std::move(strides), 0});
}

}  // namespace

Result<TensorFacts> tensor_facts(uint64_t handle) {
  const FoundTensor found = find_tensor(handle);
  if (!found) return tensor_not_found(handle);
  const Tensor& tensor = found->tensor;
  return TensorFacts{tensor.shape,
                     tensor.strides,
                     static_cast<uint32_t>(tensor.offset),
                     static_cast<uint32_t>(tensor.elements()),
                     tensor.is_contiguous(),
                     tensor.buffer->is_read_only(),
                     tensor.data(),
                     tensor.buffer->memory()};
}

Result<uint64_t> tensor_from_buffer(uint64_t buffer, std::string_view shape_json) {
  Result<Sizes> shape = read_sizes(shape_json, "shape JSON");
  if (!shape) return shape.error();
  if (const Result<uint64_t> count = count_of(*shape); !count) return count.error();
  Sizes strides = row_major(*shape);
  return from_buffer(buffer, *std::move(shape), std::move(strides), "");
}

Result<uint64_t> tensor_from_buffer_with_strides(uint64_t buffer, std::string_view shape_json,
                                                 std::string_view strides_json) {
  Result<Sizes> shape = read_sizes(shape_json, "shape JSON");
  if (!shape) return shape.error();
  Result<Sizes> strides = read_sizes(strides_json, "strides JSON");
  if (!strides) return strides.error();
  return from_buffer(buffer, *std::move(shape), *std::move(strides), "at least ");
}

Result<uint64_t> tensor_contiguous(uint64_t executor, uint64_t tensor) {
  return derive(executor, tensor, contiguous);
}

Result<uint64_t> tensor_reshape(uint64_t executor, uint64_t tensor, std::string_view shape_json) {
  const Result<Sizes> shape = read_sizes(shape_json, "new shape JSON");
  if (!shape) return shape.error();
  const Result<uint64_t> count = count_of(*shape);
  if (!count) return count.error();
  return derive(executor, tensor, [&](Executor& owner, const Tensor& it) -> Result<Tensor> {
    if (*count != it.elements()) {
      return invalid("Cannot reshape: element count mismatch (" + text(it.elements()) + " vs " +
                     text(*count) + ")");
    }
    Result<Tensor> made = contiguous(owner, it);
    if (!made) return made;
    made->shape = *shape;
    made->strides = row_major(*shape);
    return made;
  });
}

Result<uint64_t> tensor_matmul(uint64_t executor, uint64_t a, uint64_t b) {
  const Operands operands(executor, Lifetime::pinned);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundTensor found_a = find_tensor(a);
  if (!found_a) return fail(ErrorCode::not_found, "Tensor A handle " + text(a) + " not found");
  const FoundTensor found_b = find_tensor(b);
  if (!found_b) return fail(ErrorCode::not_found, "Tensor B handle " + text(b) + " not found");
  const Tensor& first = found_a->tensor;
  const Tensor& second = found_b->tensor;
  if (Status ok = check_owner(operands, executor, first, a); !ok) return ok.error();
  if (Status ok = check_owner(operands, executor, second, b); !ok) return ok.error();
  if (first.shape.size() != 2 || second.shape.size() != 2) {
    return invalid("matmul requires 2D tensors, got " + text(first.shape.size()) + "D and " +
                   text(second.shape.size()) + "D");
  }
  if (!first.is_contiguous() || !second.is_contiguous()) {
    return invalid("matmul requires contiguous tensors: call tensor_contiguous() before");
  }
  const uint64_t m = first.shape[0];
  const uint64_t k = first.shape[1];
  const uint64_t n = second.shape[1];
  if (k != second.shape[0]) {
    return invalid("matmul dimension mismatch: A is [" + text(m) + "x" + text(k) + "], B is [" +
                   text(second.shape[0]) + "x" + text(n) + "]");
  }
  Result<Tensor> product = allocate(operands.executor(), {m, n});
  if (!product) return product.error();
  multiply(ProductShape::dense(m, n, k), first.data(), second.data(), product->buffer->data());
  return register_tensor(*std::move(product));
}

Result<bool> tensor_is_broadcast_compatible(uint64_t a, uint64_t b) {
  const FoundTensor first = find_tensor(a);
  if (!first) return fail(ErrorCode::not_found, "Tensor A handle " + text(a) + " not found");
  const FoundTensor second = find_tensor(b);
  if (!second) return fail(ErrorCode::not_found, "Tensor B handle " + text(b) + " not found");
  return broadcast(first->tensor.shape, second->tensor.shape).has_value();
}

Result<std::string> tensor_broadcast_shapes(std::string_view a_json, std::string_view b_json) {
  const Result<Sizes> a = read_sizes(a_json, "shape A JSON");
  if (!a) return a.error();
  const Result<Sizes> b = read_sizes(b_json, "shape B JSON");
  if (!b) return b.error();
  const Result<Sizes> shape = broadcast(*a, *b);
  if (!shape) return shape.error();
  return write_sizes(*shape);
}

Result<uint64_t> tensor_buffer(uint64_t handle) {
  const FoundTensor tensor = find_tensor(handle);
  if (!tensor) return tensor_not_found(handle);
  const std::shared_ptr<Buffer>& buffer = tensor->tensor.buffer;
  const uint64_t known = buffer->handle;
  if (handles().find<BufferEntry>(known, Lifetime::pinned)) return known;
  return register_buffer(buffer);
}

void tensor_cleanup(uint64_t tensor) { handles().remove<TensorEntry>(tensor); }

}  // namespace hoist::graph::ffi
