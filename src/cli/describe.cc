#include "cli/describe.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace hoist::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Kind {
  std::string_view value;
  const char* kind;
};
constexpr Kind kKinds[] = {{"FILE", "file"},       {"IN", "file"},    {"OUT", "file"},
                           {"COPY", "file"},       {"SVG", "file"},   {"PATH", "file"},
                           {"INDEX", "folder"},    {"NEW", "folder"}, {"DIR", "folder"},
                           {"PROGRAM", "program"}, {"TOPIC", "topic"}};

const char* kind_of(std::string_view value) {
  for (const Kind& known : kKinds) {
    if (value == known.value) return known.kind;
  }
  return "text";
}

// The type "TEXT:{batch,sync}" holds a value's name and the values that may be given.
std::string value_name(const std::string& type) {
  std::string name = type.substr(0, type.find(':'));
  if (name.starts_with("[=")) name = name.substr(2, name.size() - 3);
  return name;
}

std::vector<std::string> choices_of(const std::string& type) {
  const size_t first = type.find(":{");
  if (first == type.npos) return {};
  const size_t end = type.find('}', first);
  return CLI::detail::split(type.substr(first + 2, end - first - 2), ',');
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_single_name()};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

Json describe_option(CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  std::string value = is_flag ? "" : value_name(type);
  if (option.get_positional()) value = option.get_single_name();
  return {{"names", names_of(option)},
          {"value", value},
          {"kind", kind_of(value)},
          {"choices", choices_of(type)},
          {"suggestions", suggestions(option)},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"many", option.get_items_expected_max() > 1},
          {"optional", !is_flag && option.get_items_expected_min() == 0},
          {"description", option.get_description()}};
}

Json describe_command(CLI::App& app) {
  Json options = Json::array();
  Json arguments = Json::array();
  Json commands = Json::array();
  for (CLI::Option* option : app.get_options({})) {
    (option->get_positional() ? arguments : options).push_back(describe_option(*option));
  }
  for (CLI::App* command : app.get_subcommands({})) commands.push_back(describe_command(*command));
  return {{"name", app.get_name()},
          {"group", app.get_group()},
          {"description", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"arguments", arguments},
          {"commands", commands}};
}

}  // namespace

std::string describe(CLI::App& app) { return describe_command(app).dump(2); }

}  // namespace hoist::cli
