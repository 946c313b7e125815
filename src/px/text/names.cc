#include "px/text/names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace hoist::px {
namespace {

constexpr std::pair<std::string_view, ir::Scalar> kAliases[] = {{"int", ir::Scalar::i32},
                                                                {"float", ir::Scalar::f32},
                                                                {"byte", ir::Scalar::u8},
                                                                {"char", ir::Scalar::u8}};

constexpr std::array<std::string_view, 11> kIntrinsics = {
    "min",      "max",      "select",     "len",       "vector", "thread_id",
    "block_id", "local_id", "block_size", "grid_size", "lane_id"};

constexpr std::string_view kBitCast = "as_";

std::optional<ir::Scalar> find_scalar(std::string_view name) {
  for (const auto& [alias, scalar] : kAliases) {
    if (alias == name) return scalar;
  }
  return ir::find_scalar(name);
}

}  // namespace

std::optional<ir::Type> find_type(std::string_view name) {
  if (const auto scalar = find_scalar(name)) return ir::Type(*scalar);
  for (const int lanes : {2, 4, 8, 16}) {
    const std::string suffix = "x" + std::to_string(lanes);
    if (!name.ends_with(suffix)) continue;
    const auto scalar = ir::find_scalar(name.substr(0, name.size() - suffix.size()));
    if (scalar) return ir::Type(*scalar, lanes);
  }
  return std::nullopt;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (int i = 0; i < ir::kScalars; ++i) names.emplace_back(name(static_cast<ir::Scalar>(i)));
  for (const auto& [alias, scalar] : kAliases) names.emplace_back(alias);
  return names;
}

std::optional<Intrinsic> find_intrinsic(std::string_view name) {
  const auto found = std::find(kIntrinsics.begin(), kIntrinsics.end(), name);
  if (found == kIntrinsics.end()) return std::nullopt;
  return static_cast<Intrinsic>(found - kIntrinsics.begin());
}

std::optional<ir::Scalar> find_bit_cast(std::string_view name) {
  if (!name.starts_with(kBitCast)) return std::nullopt;
  const auto scalar = ir::find_scalar(name.substr(kBitCast.size()));
  return scalar == ir::Scalar::boolean ? std::nullopt : scalar;
}

bool is_builtin_name(std::string_view name) {
  return find_type(name) || find_intrinsic(name) || find_bit_cast(name) || ir::find_builtin(name);
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names = type_names();
  names.insert(names.end(), kIntrinsics.begin(), kIntrinsics.end());
  for (int i = 0; i < ir::kBuiltins; ++i) names.emplace_back(name(static_cast<ir::Builtin>(i)));
  for (int i = 1; i < ir::kScalars; ++i) {
    names.push_back(std::string(kBitCast) + std::string(name(static_cast<ir::Scalar>(i))));
  }
  return names;
}

}  // namespace hoist::px
