#include "ir/type.h"

#include <fmt/core.h>

#include <array>

namespace hoist::ir {
namespace {

using array::DType;

struct Row {
  std::string_view name;
  DType dtype;
};

constexpr std::array<Row, kScalars> kRows = {{
    {"bool", DType::boolean},
    {"i8", DType::i8},
    {"i16", DType::i16},
    {"i32", DType::i32},
    {"i64", DType::i64},
    {"u8", DType::u8},
    {"u16", DType::u16},
    {"u32", DType::u32},
    {"u64", DType::u64},
    {"f16", DType::f16},
    {"bf16", DType::bf16},
    {"f32", DType::f32},
    {"f64", DType::f64},
}};

template <typename Matches>
std::optional<Scalar> find(Matches matches) {
  for (int i = 0; i < kScalars; ++i) {
    if (matches(kRows[static_cast<size_t>(i)])) return static_cast<Scalar>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Scalar scalar) { return kRows[static_cast<size_t>(scalar)].name; }

std::optional<Scalar> find_scalar(std::string_view name) {
  return find([&](const Row& row) { return row.name == name; });
}

array::DType dtype_of(Scalar scalar) { return kRows[static_cast<size_t>(scalar)].dtype; }

std::optional<Scalar> scalar_of(array::DType dtype) {
  return find([&](const Row& row) { return row.dtype == dtype; });
}

std::string name(Type type) {
  std::string text(name(type.scalar));
  if (type.is_vector()) text += fmt::format("x{}", type.lanes);
  return text;
}

}  // namespace hoist::ir
