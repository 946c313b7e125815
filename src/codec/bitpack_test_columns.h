// Columns for the tests and benchmarks of bit packing: each shape leads the encoder to another
// choice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace hoist::codec {

enum class Shape {
  constant,
  narrow,          // uniform in a range of `width` bits
  narrow_patched,  // the same with 1 % of any values
  signed_narrow,   // the same around zero
  sorted,          // differences of up to `width` bits
  sorted_patched,  // the same with restarts
  accelerating,    // differences of differences of up to `width` bits
  random,
};

inline constexpr Shape kShapes[] = {Shape::constant,      Shape::narrow, Shape::narrow_patched,
                                    Shape::signed_narrow, Shape::sorted, Shape::sorted_patched,
                                    Shape::accelerating,  Shape::random};

template <typename T>
std::vector<T> make_column(Shape shape, unsigned width, size_t count, std::mt19937_64& random) {
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t base = random();
  uint64_t value = base;
  uint64_t slope = random() % 256;
  std::vector<T> column(count);
  for (T& slot : column) {
    const uint64_t noise = random() & mask;
    const bool outlier = random() % 100 == 0;
    switch (shape) {
      case Shape::constant:
        break;
      case Shape::narrow:
        value = base + noise;
        break;
      case Shape::narrow_patched:
        value = outlier ? random() : base + noise;
        break;
      case Shape::signed_narrow:
        value = noise - mask / 2;
        break;
      case Shape::sorted:
        value += noise;
        break;
      case Shape::sorted_patched:
        value = outlier ? random() : value + noise;
        break;
      case Shape::accelerating:
        slope += noise;
        value += slope;
        break;
      case Shape::random:
        value = random();
        break;
    }
    slot = static_cast<T>(value);
  }
  return column;
}

// Few values spread over the whole range, in any order.
template <typename T>
std::vector<T> few_values(size_t distinct, size_t count, std::mt19937_64& random) {
  std::vector<T> entries(distinct);
  for (T& entry : entries) entry = static_cast<T>(random());
  std::vector<T> column(count);
  for (T& value : column) value = entries[random() % distinct];
  return column;
}

template <typename T>
std::vector<T> long_runs(size_t longest, size_t count, std::mt19937_64& random) {
  std::vector<T> column;
  while (column.size() < count) {
    const size_t length = std::min(count - column.size(), 1 + random() % longest);
    column.insert(column.end(), length, static_cast<T>(random()));
  }
  return column;
}

}  // namespace hoist::codec
