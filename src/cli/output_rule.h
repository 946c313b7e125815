// What the commands that write a file for their user say of one that exists.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/output_file.h"

namespace hoist::cli {

// The rule of base/output_file.h for a command that has --force (tool.h).
inline OutputRule output_rule(bool force, std::vector<std::string> inputs = {}) {
  return {.replace = force ? Replace::any : Replace::never, .inputs = std::move(inputs)};
}

}  // namespace hoist::cli
