// Reductions of a row by chunks.
#pragma once

#include <cstdint>
#include <cstring>

#include "graph/ops/ops.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {

// A sum, or a product, of the chunks seen so far. Sums wait for their like, as graph/ops has it:
// that gives the sum of the whole row.
struct Partial {
  uint64_t waiting[64];  // bits of numbers
  size_t chunks;
  size_t depth;

  template <typename T>
  void add(T part, bool multiplies) {
    for (size_t done = ++chunks; done % 2 == 0; done /= 2) {
      const T before = pop<T>();
      part = multiplies ? before * part : before + part;
    }
    std::memcpy(&waiting[depth++], &part, sizeof(T));
  }
  void add(int64_t part, bool multiplies) { add(static_cast<uint64_t>(part), multiplies); }

  // One value that is kept from a chunk to the next.
  template <typename T>
  void keep(T value) {
    std::memcpy(&waiting[0], &value, sizeof(T));
  }
  template <typename T>
  T kept() const {
    T value;
    std::memcpy(&value, &waiting[0], sizeof(T));
    return value;
  }

  // A part of a row from `column` on: where the first extreme of all parts so far is.
  template <typename T>
  void see_place(bool is_minimum, const T* row, size_t n, int64_t column, int64_t& place);

  // Writes the sum, or product, of all.
  void store(Lanes lanes, bool multiplies, void* to) {
    switch (lanes) {
      case Lanes::f32:
        *static_cast<float*>(to) = all<float>(multiplies);
        break;
      case Lanes::f64:
        *static_cast<double*>(to) = all<double>(multiplies);
        break;
      default:
        *static_cast<uint64_t*>(to) = all<uint64_t>(multiplies);
    }
  }

 private:
  template <typename T>
  T all(bool multiplies) {
    T result = pop<T>();
    while (depth > 0) {
      const T before = pop<T>();
      result = multiplies ? before * result : before + result;
    }
    return result;
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

inline float product_of_part(const float* row, size_t n) {
  return typed_steps().multiplied_f32(row, n);
}
inline double product_of_part(const double* row, size_t n) {
  return typed_steps().multiplied_f64(row, n);
}
inline uint64_t product_of_part(const uint64_t* row, size_t n) {
  return typed_steps().multiplied_u64(row, n);
}
inline int64_t product_of_part(const int64_t* row, size_t n) {
  return static_cast<int64_t>(product_of_part(reinterpret_cast<const uint64_t*>(row), n));
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

// Whether `a` comes before `b` where it lies behind it: NaN does before numbers.
template <typename T>
bool is_beyond(bool is_minimum, T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    if (a != a || b != b) return b == b;
  }
  return is_minimum ? a < b : a > b;
}

inline size_t place_of(const float* row, size_t n, float value) {
  return typed_steps().find_f32(row, n, value);
}
inline size_t place_of(const double* row, size_t n, double value) {
  return typed_steps().find_f64(row, n, value);
}
inline size_t place_of(const int64_t* row, size_t n, int64_t value) {
  return typed_steps().find_i64(row, n, value);
}
inline size_t place_of(const uint64_t* row, size_t n, uint64_t value) {
  return place_of(reinterpret_cast<const int64_t*>(row), n, static_cast<int64_t>(value));
}

template <typename T>
void Partial::see_place(bool is_minimum, const T* row, size_t n, int64_t column, int64_t& place) {
  const size_t found = place_of(row, n, extreme_of_part(is_minimum, row, n));
  if (column != 0 && !is_beyond(is_minimum, row[found], kept<T>())) return;
  place = column + static_cast<int64_t>(found);
  keep(row[found]);
}

// Sums up to each element; `partial` has that of the chunks before, unless it is the first one.
template <typename T>
void running_sums(const T* from, int64_t n, bool is_first, Partial& partial, T* to) {
  T sum = is_first ? from[0] : static_cast<T>(partial.kept<T>() + from[0]);
  to[0] = sum;
  for (int64_t i = 1; i < n; ++i) to[i] = sum = static_cast<T>(sum + from[i]);
  partial.keep(sum);
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
