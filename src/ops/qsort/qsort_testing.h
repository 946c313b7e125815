// What the tests of qsort share: comparators that are described by data, and arrays for them. The
// comparators are the slow obvious way to compare; nothing of the engine is used in them.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "ops/qsort/qsort.h"

namespace hoist::qsort::testing {

enum class FieldType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, memory, text, coarse };
inline constexpr int kFieldTypes = static_cast<int>(FieldType::coarse) + 1;

struct Field {
  FieldType type = FieldType::i32;
  size_t offset = 0;
  size_t length = 4;
  bool descending = false;
};

inline size_t width_of(FieldType type) {
  constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 1, 4};
  return kWidths[static_cast<int>(type)];
}

template <typename T>
int compare_as(const void* a, const void* b) {
  T x;
  T y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

inline int compare_field(const Field& field, const char* a, const char* b) {
  a += field.offset;
  b += field.offset;
  switch (field.type) {
    case FieldType::i8:
      return compare_as<int8_t>(a, b);
    case FieldType::u8:
      return compare_as<uint8_t>(a, b);
    case FieldType::i16:
      return compare_as<int16_t>(a, b);
    case FieldType::u16:
      return compare_as<uint16_t>(a, b);
    case FieldType::i32:
      return compare_as<int32_t>(a, b);
    case FieldType::u32:
      return compare_as<uint32_t>(a, b);
    case FieldType::i64:
      return compare_as<int64_t>(a, b);
    case FieldType::u64:
      return compare_as<uint64_t>(a, b);
    case FieldType::f32:
      return compare_as<float>(a, b);
    case FieldType::f64:
      return compare_as<double>(a, b);
    case FieldType::memory:
      return std::memcmp(a, b, field.length);
    case FieldType::text:
      return ::strncmp(a, b, field.length);
    case FieldType::coarse:
      break;
  }
  int32_t x;
  int32_t y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x / 16 - y / 16;
}

// A strict weak order, as long as no float field holds a NaN.
struct Fields {
  std::vector<Field> fields;

  static int compare(const void* a, const void* b, void* self) {
    for (const Field& field : static_cast<const Fields*>(self)->fields) {
      const int result =
          compare_field(field, static_cast<const char*>(a), static_cast<const char*>(b));
      if (result != 0) return field.descending ? (result < 0 ? 1 : -1) : result;
    }
    return 0;
  }
};

inline bool has_nan(const Fields& order, const std::vector<char>& array, size_t size) {
  for (const Field& field : order.fields) {
    for (size_t at = field.offset; at < array.size(); at += size) {
      float f = 0;
      double d = 0;
      if (field.type == FieldType::f32) std::memcpy(&f, &array[at], sizeof f);
      if (field.type == FieldType::f64) std::memcpy(&d, &array[at], sizeof d);
      if (f != f || d != d) return true;
    }
  }
  return false;
}

inline std::vector<char> sorted_by_libc(std::vector<char> array, size_t size,
                                        hoist_compare* compare, void* context) {
  ::qsort_r(array.data(), array.size() / size, size, compare, context);
  return array;
}

inline bool sort_with_engine(std::vector<char>& array, size_t size, hoist_compare* compare,
                             void* context) {
  return hoist_qsort(array.data(), array.size() / size, size, compare, context, ::qsort_r);
}

// The elements in an order that does not depend on theirs.
inline std::vector<std::vector<char>> as_multiset(const std::vector<char>& array, size_t size) {
  std::vector<std::vector<char>> elements;
  for (size_t at = 0; at < array.size(); at += size) {
    elements.emplace_back(array.begin() + static_cast<long>(at),
                          array.begin() + static_cast<long>(at + size));
  }
  std::sort(elements.begin(), elements.end());
  return elements;
}

}  // namespace hoist::qsort::testing
