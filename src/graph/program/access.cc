#include "graph/program/access.h"

namespace hoist::graph::program {
namespace {

// As NumPy does: runs of axes, old and new, of as many elements each. Those of an old run must lie
// one behind the other.
std::optional<Access> reshaped(const Extents& to, const Extents& from, const Access& input) {
  Access access{input.offset, Extents(to.size(), 0)};
  if (element_count(to) == 0) return access;
  Extents extents;
  Extents strides;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    extents.push_back(from[i]);
    strides.push_back(input.strides[i]);
  }
  size_t old_begin = 0;
  size_t new_begin = 0;
  while (old_begin < extents.size()) {
    size_t old_end = old_begin + 1;
    size_t new_end = new_begin;
    int64_t old_count = extents[old_begin];
    int64_t new_count = 1;
    do {
      if (new_count < old_count || new_end == new_begin) {
        new_count *= to[new_end++];
      } else {
        old_count *= extents[old_end++];
      }
    } while (old_count != new_count);
    for (size_t i = old_begin; i + 1 < old_end; ++i) {
      if (strides[i] != strides[i + 1] * extents[i + 1]) return std::nullopt;
    }
    int64_t stride = strides[old_end - 1];
    for (size_t i = new_end; i-- > new_begin;) {
      access.strides[i] = stride;
      stride *= to[i];
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  return access;
}

}  // namespace

Extents dense_strides(const Extents& shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool is_dense(const Extents& shape, const Access& access) {
  if (access.offset != 0) return false;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && access.strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

std::optional<Access> access_of_view(const Node& node, const Extents& input_shape,
                                     const Access& input) {
  switch (node.op) {
    case Op::permute: {
      Access access{input.offset, {}};
      for (const int64_t axis : node.numbers) {
        access.strides.push_back(input.strides[static_cast<size_t>(axis)]);
      }
      return access;
    }
    case Op::broadcast:
      return broadcast_access(node.shape, input_shape, input);
    case Op::slice: {
      Access access = input;
      for (size_t i = 0; i < node.shape.size(); ++i) {
        access.offset += node.numbers[2 * i] * input.strides[i];
        access.strides[i] *= node.numbers[2 * i + 1];
      }
      return access;
    }
    default:
      return reshaped(node.shape, input_shape, input);
  }
}

Access broadcast_access(const Extents& shape, const Extents& input_shape, const Access& input) {
  Access access{input.offset, Extents(shape.size(), 0)};
  const size_t missing = shape.size() - input_shape.size();
  for (size_t i = missing; i < shape.size(); ++i) {
    if (input_shape[i - missing] != 1) access.strides[i] = input.strides[i - missing];
  }
  return access;
}

void gather(const float* from, const Extents& shape, const Access& access, float* to) {
  const int64_t count = element_count(shape);
  if (count == 0) return;
  const size_t rank = shape.size();
  Extents at(rank, 0);
  const float* source = from + access.offset;
  for (int64_t done = 0; done < count; ++done) {
    *to++ = *source;
    for (size_t i = rank; i-- > 0;) {
      source += access.strides[i];
      if (++at[i] < shape[i]) break;
      source -= access.strides[i] * shape[i];
      at[i] = 0;
    }
  }
}

}  // namespace hoist::graph::program
