#include "array/copy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "array/convert.h"

namespace hoist::array {
namespace {

struct Boolean {
  uint8_t byte;
};
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

template <typename T>
constexpr bool kIsCoded =
    std::is_same_v<T, Boolean> || std::is_same_v<T, F16> || std::is_same_v<T, Bf16>;

auto number_of(Boolean value) { return static_cast<uint8_t>(value.byte != 0); }
auto number_of(F16 value) { return f16_to_f32(value.bits); }
auto number_of(Bf16 value) { return bf16_to_f32(value.bits); }
template <typename T>
requires(!kIsCoded<T>) auto number_of(T value) { return value; }

// Between the two floats around an inexact number, the one with an odd last bit: rounded again to a
// shorter format, it gives what rounding once would.
template <typename T>
float rounded_to_odd(T value) {
  const auto wide = static_cast<long double>(value);
  const auto near = static_cast<float>(wide);
  const auto bits = std::bit_cast<uint32_t>(near);
  if (std::isnan(near) || near == wide || bits % 2 == 1) return near;
  return std::bit_cast<float>(std::fabs(near) > std::fabs(wide) ? bits - 1 : bits + 1);
}

template <typename To, typename Float>
To truncated(Float value) {
  constexpr auto kLeast = std::numeric_limits<To>::min();
  constexpr auto kMost = std::numeric_limits<To>::max();
  // Where the most is no float, it is rounded up to one that does not fit.
  if (value >= static_cast<Float>(kMost)) return kMost;
  if (value <= static_cast<Float>(kLeast)) return kLeast;
  return std::isnan(value) ? To{0} : static_cast<To>(value);
}

template <typename To, typename Number>
To element_of(Number value) {
  if constexpr (std::is_same_v<To, Boolean>) {
    return {static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_same_v<To, F16>) {
    return {f32_to_f16(rounded_to_odd(value))};
  } else if constexpr (std::is_same_v<To, Bf16>) {
    return {f32_to_bf16(rounded_to_odd(value))};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Number>) {
    return truncated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// visit(T{}) with the type of the elements.
template <typename Visit>
void with_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::boolean:
      return visit(Boolean{});
    case DType::u8:
      return visit(uint8_t{});
    case DType::i8:
      return visit(int8_t{});
    case DType::u16:
      return visit(uint16_t{});
    case DType::i16:
      return visit(int16_t{});
    case DType::u32:
      return visit(uint32_t{});
    case DType::i32:
      return visit(int32_t{});
    case DType::u64:
      return visit(uint64_t{});
    case DType::i64:
      return visit(int64_t{});
    case DType::f16:
      return visit(F16{});
    case DType::bf16:
      return visit(Bf16{});
    case DType::f32:
      return visit(float{});
    case DType::f64:
      return visit(double{});
    default:
      return;
  }
}

// A row: so many elements, each so many bytes behind the one before.
struct Row {
  const std::byte* from;
  std::byte* to;
  int64_t from_step;
  int64_t to_step;
  int64_t length;
};

template <typename From, typename To>
void convert_row(const Row& row, int64_t from_step, int64_t to_step) {
  for (int64_t i = 0; i < row.length; ++i) {
    From value;
    std::memcpy(&value, row.from + i * from_step, sizeof value);
    const To element = element_of<To>(number_of(value));
    std::memcpy(row.to + i * to_step, &element, sizeof element);
  }
}

// Loops over steps that the compiler knows become vector code.
template <typename From, typename To>
void convert_row(const Row& row) {
  if (row.from_step == sizeof(From) && row.to_step == sizeof(To)) {
    return convert_row<From, To>(row, sizeof(From), sizeof(To));
  }
  convert_row<From, To>(row, row.from_step, row.to_step);
}

template <typename Bits>
void copy_row_apart(const Row& row) {
  for (int64_t i = 0; i < row.length; ++i) {
    std::memcpy(row.to + i * row.to_step, row.from + i * row.from_step, sizeof(Bits));
  }
}

template <typename Bits>
void copy_row(const Row& row) {
  if (row.from_step != 0) return copy_row_apart<Bits>(row);
  Bits value;
  std::memcpy(&value, row.from, sizeof value);
  if (row.to_step != sizeof(Bits)) return copy_row_apart<Bits>(row);
  for (int64_t i = 0; i < row.length; ++i) {
    std::memcpy(row.to + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
  }
}

void copy_row_of(size_t bytes, const Row& row) {
  const auto item = static_cast<int64_t>(bytes);
  if (row.from_step == item && row.to_step == item) {
    std::memcpy(row.to, row.from, static_cast<size_t>(row.length) * bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return copy_row<uint8_t>(row);
    case 2:
      return copy_row<uint16_t>(row);
    case 4:
      return copy_row<uint32_t>(row);
    case 8:
      return copy_row<uint64_t>(row);
    default:
      for (int64_t i = 0; i < row.length; ++i) {
        std::memcpy(row.to + i * row.to_step, row.from + i * row.from_step, bytes);
      }
  }
}

// Dimensions of length 1 dropped, and those that lie one behind the other in both views made one.
void merge_dimensions(View& from, View& to) {
  size_t kept = 0;
  for (size_t d = 0; d < static_cast<size_t>(from.rank); ++d) {
    const int64_t extent = from.extents[d];
    if (extent == 1) continue;
    if (kept > 0 && from.strides[kept - 1] == extent * from.strides[d] &&
        to.strides[kept - 1] == extent * to.strides[d]) {
      from.extents[kept - 1] *= extent;
      --kept;
    } else {
      from.extents[kept] = extent;
    }
    from.strides[kept] = from.strides[d];
    to.strides[kept] = to.strides[d];
    ++kept;
  }
  from.rank = to.rank = static_cast<int32_t>(kept);
}

template <typename CopyRow>
void for_rows(const View& from, const View& to, size_t dimension, Row row, const CopyRow& copy) {
  const auto from_item = static_cast<int64_t>(properties(from.dtype).bytes);
  const auto to_item = static_cast<int64_t>(properties(to.dtype).bytes);
  const auto rank = static_cast<size_t>(from.rank);
  if (rank == 0) return copy({row.from, row.to, from_item, to_item, 1});
  const int64_t from_step = from.strides[dimension] * from_item;
  const int64_t to_step = to.strides[dimension] * to_item;
  if (dimension + 1 == rank) {
    return copy({row.from, row.to, from_step, to_step, from.extents[dimension]});
  }
  for (int64_t i = 0; i < from.extents[dimension]; ++i) {
    for_rows(from, to, dimension + 1, {row.from + i * from_step, row.to + i * to_step, 0, 0, 0},
             copy);
  }
}

// The first and the last byte behind it.
std::pair<const std::byte*, const std::byte*> range(const View& view) {
  const auto item = static_cast<int64_t>(properties(view.dtype).bytes);
  int64_t begin = 0;
  int64_t end = item;
  for (size_t d = 0; d < static_cast<size_t>(view.rank); ++d) {
    const int64_t reach = (view.extents[d] - 1) * view.strides[d] * item;
    (reach < 0 ? begin : end) += reach;
  }
  return {view.data + begin, view.data + end};
}

}  // namespace

bool is_convertible(DType dtype) {
  bool is = false;
  with_type(dtype, [&](auto) { is = true; });
  return is;
}

void copy_elements(const View& given_from, const View& given_to) {
  if (given_from.elements() == 0) return;
  View from = given_from;
  View to = given_to;
  merge_dimensions(from, to);
  const Row first = {from.data, to.data, 0, 0, 0};
  if (from.dtype == to.dtype) {
    const size_t bytes = properties(from.dtype).bytes;
    return for_rows(from, to, 0, first, [&](const Row& row) { copy_row_of(bytes, row); });
  }
  with_type(from.dtype, [&](auto from_element) {
    with_type(to.dtype, [&](auto to_element) {
      for_rows(from, to, 0, first, [](const Row& row) {
        convert_row<decltype(from_element), decltype(to_element)>(row);
      });
    });
  });
}

bool may_overlap(const View& a, const View& b) {
  if (a.elements() == 0 || b.elements() == 0) return false;
  const auto [a_begin, a_end] = range(a);
  const auto [b_begin, b_end] = range(b);
  return a_begin < b_end && b_begin < a_end;
}

}  // namespace hoist::array
