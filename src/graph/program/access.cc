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

namespace {

// body(place in memory, number of the element)
template <typename Body>
void walk(const Extents& shape, const Access& access, const Body& body) {
  const int64_t count = element_count(shape);
  const size_t rank = shape.size();
  Extents at(rank, 0);
  int64_t place = access.offset;
  for (int64_t done = 0; done < count; ++done) {
    body(place, done);
    for (size_t i = rank; i-- > 0;) {
      place += access.strides[i];
      if (++at[i] < shape[i]) break;
      place -= access.strides[i] * shape[i];
      at[i] = 0;
    }
  }
}

// use(elements of `memory`, those of `dense`), as integers of their size.
template <typename Memory, typename Dense, typename Use>
void with_elements(Memory& memory, Dense& dense, const Use& use) {
  const auto as = [&]<typename T>(T*) {
    use(static_cast<T*>(const_cast<void*>(memory.bytes())),
        static_cast<T*>(const_cast<void*>(dense.bytes())));
  };
  if (memory.lane() == 4) {
    as(static_cast<uint32_t*>(nullptr));
  } else {
    as(static_cast<uint64_t*>(nullptr));
  }
}

}  // namespace

Values gather(const Values& from, const Extents& shape, const Access& access) {
  const auto count = static_cast<size_t>(element_count(shape));
  Values to(from.has(Lanes::f32)   ? Lanes::f32
            : from.has(Lanes::f64) ? Lanes::f64
                                   : Lanes::i64,
            count);
  with_elements(from, to, [&](const auto* memory, auto* dense) {
    walk(shape, access, [&](int64_t place, int64_t i) { dense[i] = memory[place]; });
  });
  return to;
}

void scatter(const Values& from, const Extents& shape, const Access& access, Values& to) {
  with_elements(to, from, [&](auto* memory, const auto* dense) {
    walk(shape, access, [&](int64_t place, int64_t i) { memory[place] = dense[i]; });
  });
}

}  // namespace hoist::graph::program
