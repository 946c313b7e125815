// Tensors made of others without copying an element.
#include <algorithm>

#include "graph/ffi/json.h"
#include "graph/ffi/session.h"
#include "graph/ffi/tensor_operands.h"

namespace hoist::graph::ffi {
namespace {

// Registers make(tensor), another view of its buffer.
template <typename Make>
Result<uint64_t> view(uint64_t handle, const Make& make) {
  const FoundTensor tensor = find_tensor(handle);
  if (!tensor) return tensor_not_found(handle);
  Result<Tensor> made = make(tensor->tensor);
  if (!made) return made.error();
  // Where a view without elements would begin may lie outside of the buffer.
  if (made->elements() == 0) made->offset = tensor->tensor.offset;
  return register_tensor(*std::move(made));
}

Status check_dimension(const char* what, const Tensor& tensor, uint32_t dim) {
  if (dim < tensor.shape.size()) return {};
  return invalid(std::string(what) + " dimension " + text(dim) + " out of range for " +
                 text(tensor.shape.size()) + "D tensor");
}

std::string in_dimension(const Tensor& tensor, uint32_t dim) {
  return " for dimension " + text(dim) + " with size " + text(tensor.shape[dim]);
}

}  // namespace

Result<uint64_t> tensor_transpose(uint64_t tensor) {
  return view(tensor, [](const Tensor& it) -> Result<Tensor> {
    if (it.shape.size() != 2) {
      return invalid("transpose() requires 2D tensor, got " + text(it.shape.size()) + "D");
    }
    return Tensor{it.buffer, {it.shape[1], it.shape[0]}, {it.strides[1], it.strides[0]}, it.offset};
  });
}

Result<uint64_t> tensor_permute(uint64_t tensor, std::string_view dims_json) {
  const Result<Sizes> dims = read_sizes(dims_json, "dims JSON");
  if (!dims) return dims.error();
  return view(tensor, [&](const Tensor& it) -> Result<Tensor> {
    const size_t rank = it.shape.size();
    if (dims->size() != rank) {
      return invalid("permute dimensions mismatch: expected " + text(rank) + ", got " +
                     text(dims->size()));
    }
    Tensor made{it.buffer, {}, {}, it.offset};
    std::vector<bool> seen(rank, false);
    for (const uint64_t d : *dims) {
      if (d >= rank) {
        return invalid("permute dimension " + text(d) + " out of range [0, " + text(rank) + ")");
      }
      if (seen[d]) return invalid("permute dimension " + text(d) + " appears multiple times");
      seen[d] = true;
      made.shape.push_back(it.shape[d]);
      made.strides.push_back(it.strides[d]);
    }
    return made;
  });
}

Result<uint64_t> tensor_view_1d(uint64_t tensor) {
  return view(tensor, [](const Tensor& it) -> Result<Tensor> {
    if (!it.is_contiguous()) return invalid("view_1d requires contiguous tensor");
    return Tensor{it.buffer, {it.elements()}, {1}, it.offset};
  });
}

Result<uint64_t> tensor_select(uint64_t tensor, uint32_t dim, uint32_t index) {
  return view(tensor, [&](const Tensor& it) -> Result<Tensor> {
    if (Status ok = check_dimension("select", it, dim); !ok) return ok.error();
    if (index >= it.shape[dim]) {
      return invalid("select index " + text(index) + " out of range" + in_dimension(it, dim));
    }
    Tensor made = it;
    made.offset += index * it.strides[dim];
    made.shape.erase(made.shape.begin() + dim);
    made.strides.erase(made.strides.begin() + dim);
    return made;
  });
}

Result<uint64_t> tensor_narrow(uint64_t tensor, uint32_t dim, uint32_t start, uint32_t length) {
  return view(tensor, [&](const Tensor& it) -> Result<Tensor> {
    if (Status ok = check_dimension("narrow", it, dim); !ok) return ok.error();
    const uint64_t end = uint64_t{start} + length;
    if (end > it.shape[dim]) {
      return invalid("narrow range [" + text(start) + ":" + text(end) + "] out of bounds" +
                     in_dimension(it, dim));
    }
    Tensor made = it;
    made.offset += start * it.strides[dim];
    made.shape[dim] = length;
    return made;
  });
}

Result<uint64_t> tensor_slice(uint64_t tensor, uint32_t dim, int32_t start, int32_t end,
                              int32_t step) {
  return view(tensor, [&](const Tensor& it) -> Result<Tensor> {
    if (Status ok = check_dimension("slice", it, dim); !ok) return ok.error();
    const uint64_t extent = it.shape[dim];
    // Negative numbers stand for None.
    const uint64_t first = start < 0 ? 0 : static_cast<uint64_t>(start);
    const uint64_t last = end < 0 ? extent : std::min(static_cast<uint64_t>(end), extent);
    const uint64_t by = step < 0 ? 1 : static_cast<uint64_t>(step);
    if (by == 0) return invalid("slice step cannot be zero");
    if (first >= extent) {
      return invalid("slice start " + text(first) + " out of range" + in_dimension(it, dim));
    }
    Tensor made = it;
    made.shape[dim] = last > first ? (last - first + by - 1) / by : 0;
    made.strides[dim] *= by;
    made.offset += first * it.strides[dim];
    return made;
  });
}

}  // namespace hoist::graph::ffi
