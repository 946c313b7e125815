// A container's metadata for people.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "container/format.h"

namespace hoist::cli {

// As JSON where it is CBOR (byte strings and all) that nests at most 64 deep; nothing where not.
std::optional<nlohmann::ordered_json> decoded_metadata(container::Bytes bytes);

}  // namespace hoist::cli
