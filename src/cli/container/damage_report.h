// Damage as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "container/survey.h"

namespace hoist::cli {

nlohmann::ordered_json damage_json(std::span<const container::Damage> damage);
// "  payload of block 7 at 4096, 100 bytes: …", one line each, and how many are left out.
std::string damage_text(std::span<const container::Damage> damage, uint64_t count);

}  // namespace hoist::cli
