#include "cli/command.h"

#include <fmt/core.h>

namespace hoist::cli {
namespace {

constexpr char kSuggestions[] = "suggestions";

}  // namespace

CLI::Option* add_text(CLI::App* command, const std::string& name, std::optional<std::string>& value,
                      const std::string& description) {
  return command->add_option_function<std::string>(
      name, [&value](const std::string& text) { value = text; }, description);
}

void add_force(CLI::App* command, bool& force) {
  command->add_flag("--force", force, "Replace the output where it exists");
}

CLI::Validator count() {
  const auto check = [](const std::string& text) -> std::string {
    const bool is_count = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    return is_count ? std::string() : fmt::format("{} is no whole number from 0", text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_in(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
    return fmt::format("{} is not from {} to {}", text, low, high);
  };
  return CLI::Validator(check, fmt::format("in [{} - {}]", low, high));
}

// CLI11 keeps nothing of ours beside an option but validators. One that is not active checks
// nothing, and help does not show it.
CLI::Option* suggest(CLI::Option* option, const std::string& values) {
  const auto pass = [](const std::string&) { return std::string(); };
  return option->check(CLI::Validator(pass, values, kSuggestions).active(false));
}

std::vector<std::string> suggestions(CLI::Option& option) {
  try {
    CLI::Validator all = *option.get_validator(kSuggestions);
    return CLI::detail::split(all.active(true).get_description(), ' ');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

}  // namespace hoist::cli
