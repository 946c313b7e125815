// The names that the language itself gives: types and functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators.h"
#include "ir/type.h"

namespace hoist::px {

// "f32", "f32x4", and of the ancestor int, float, byte and char.
std::optional<ir::Type> find_type(std::string_view name);
std::vector<std::string> type_names();

// Functions that are no built-in of the IR alone.
enum class Intrinsic : uint8_t {
  minimum,    // min(a, b)
  maximum,    // max(a, b)
  select,     // select(condition, a, b)
  length,     // len(array)
  vector,     // vector(a, b, …)
  thread_id,  // thread_id(d), with d = 0 where it is left out, as the four that follow
  block_id,
  local_id,
  block_size,
  grid_size,
  lane_id,  // lane_id()
};
std::optional<Intrinsic> find_intrinsic(std::string_view name);

// as_u32(x): the type that takes the bits.
std::optional<ir::Scalar> find_bit_cast(std::string_view name);

// Whether a declaration of that name would hide something of the language.
bool is_builtin_name(std::string_view name);
// All names that can be called, types among them: for the nearest one.
std::vector<std::string> builtin_names();

}  // namespace hoist::px
