// The key-value pairs of packed files: whole as JSON, in short as text.
#pragma once

#include <nlohmann/json.hpp>

#include "tensors/model/metadata.h"

namespace hoist::cli {

// [{"key", "type", "value"}] in the file's order. Numbers that JSON has no word for are texts:
// "nan", "inf", "-inf".
nlohmann::ordered_json metadata_json(const std::vector<tensors::MetadataPair>& pairs);

// One line for each pair; long texts and arrays are cut.
void print_metadata(const std::vector<tensors::MetadataPair>& pairs);

}  // namespace hoist::cli
