// Which operations HOIST_OPS leaves on (operations.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takeover/operations.h"

namespace hoist {

// Nothing where none is called so.
std::optional<hoist_operation_id> find_operation(std::string_view name);

// Whether it is on: by its default, changed by HOIST_OPS.
bool operation_enabled(hoist_operation_id operation);
bool operation_enabled(std::string_view name);
// Whether HOIST_OPS does not switch it off: one that is on by request only counts, too.
bool operation_allowed(std::string_view name);

// An unknown name in a HOIST_OPS list, if there is one.
std::optional<std::string> unknown_operation(std::string_view list);

// A line for each option whose value means nothing, HOIST_OPS among them: the value, the variable,
// what counts instead.
std::vector<std::string> unusable_values();
// The lines into the log, once in a process (base/log.h).
void log_unusable_values();

}  // namespace hoist
