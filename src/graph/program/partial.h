// Reductions of a row by chunks.
#pragma once

#include <cstdint>
#include <cstring>

#include "graph/ops/ops.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {

// A sum of the chunks seen so far. Sums wait for their like, as graph/ops has it: that gives the
// sum of the whole row.
struct Partial {
  uint64_t waiting[64];  // bits of numbers
  size_t chunks;
  size_t depth;

  template <typename T>
  void add(T sum) {
    for (size_t done = ++chunks; done % 2 == 0; done /= 2) sum = pop<T>() + sum;
    std::memcpy(&waiting[depth++], &sum, sizeof(T));
  }
  void add(int64_t sum) { add(static_cast<uint64_t>(sum)); }

  // Writes the sum of all.
  void store(Lanes lanes, void* to) {
    switch (lanes) {
      case Lanes::f32:
        *static_cast<float*>(to) = sum<float>();
        break;
      case Lanes::f64:
        *static_cast<double*>(to) = sum<double>();
        break;
      default:
        *static_cast<uint64_t*>(to) = sum<uint64_t>();
    }
  }

 private:
  template <typename T>
  T sum() {
    T sum = pop<T>();
    while (depth > 0) sum = pop<T>() + sum;
    return sum;
  }
  template <typename T>
  T pop() {
    T value;
    std::memcpy(&value, &waiting[--depth], sizeof(T));
    return value;
  }
};

inline float sum_of_part(const float* row, size_t n) {
  return n <= kFew ? steps().sum_of_few(row, n) : sum(row, n);
}
inline double sum_of_part(const double* row, size_t n) { return typed_steps().sum_f64(row, n); }
inline int64_t sum_of_part(const int64_t* row, size_t n) { return typed_steps().sum_i64(row, n); }
inline uint64_t sum_of_part(const uint64_t* row, size_t n) {
  return static_cast<uint64_t>(typed_steps().sum_i64(reinterpret_cast<const int64_t*>(row), n));
}

inline float extreme_of_part(bool is_minimum, const float* row, size_t n) {
  return is_minimum ? steps().minimum(row, n) : steps().maximum(row, n);
}
inline double extreme_of_part(bool is_minimum, const double* row, size_t n) {
  return typed_steps().extreme_f64[is_minimum ? 0 : 1](row, n);
}
inline int64_t extreme_of_part(bool is_minimum, const int64_t* row, size_t n) {
  return typed_steps().extreme_i64[is_minimum ? 0 : 1](row, n);
}
inline uint64_t extreme_of_part(bool is_minimum, const uint64_t* row, size_t n) {
  return static_cast<uint64_t>(
      typed_steps().extreme_u64[is_minimum ? 0 : 1](reinterpret_cast<const int64_t*>(row), n));
}

template <typename T>
T extreme_of_two(bool is_minimum, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return (a < b) == is_minimum ? a : b;
  } else {
    return is_minimum ? minimum_of(a, b) : maximum_of(a, b);
  }
}

}  // namespace hoist::graph::program
