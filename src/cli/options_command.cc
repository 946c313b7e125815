#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/options.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "takeover/operations.h"

namespace hoist::cli {
namespace {

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Option& option : options()) {
    list.push_back({{"name", option.name},
                    {"env", option.env},
                    {"default", option.default_value},
                    {"value", option_text(option.id)},
                    {"description", option.description}});
  }
  using Json = nlohmann::ordered_json;
  fmt::print("{}\n", list.dump(2, ' ', true, Json::error_handler_t::replace));
}

void print_table() {
  for (const Option& option : options()) {
    fmt::print("{:<15} {}", option.env, option.description);
    if (option.default_value[0] != '\0') fmt::print(" [{}]", option.default_value);
    const std::string_view value = option_text(option.id);
    if (value != option.default_value) fmt::print(" (now: {})", value);
    fmt::print("\n");
  }
  fmt::print("\nOperations:");
  for (const hoist_operation& operation : hoist_operations) fmt::print(" {}", operation.name);
  fmt::print("\n");
}

}  // namespace

int options_command(bool json) {
  json ? print_json() : print_table();
  return kDone;
}

}  // namespace hoist::cli
