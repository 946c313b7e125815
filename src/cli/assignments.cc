#include "cli/assignments.h"

#include <fmt/core.h>

#include <utility>

namespace hoist::cli {
namespace {

Error refuse(std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); }

// "name=value"
Result<Assignment> split(const std::string& command, const std::string& option,
                         const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) {
    return Assignment{text.substr(0, equals), text.substr(equals + 1)};
  }
  return refuse(fmt::format("{} {} lacks a name or a value ({}): write {} name=value", option, text,
                            command, option));
}

}  // namespace

Result<std::vector<Assignment>> assignments(const std::string& command, const std::string& option,
                                            const std::vector<std::string>& texts) {
  std::vector<Assignment> all;
  for (const std::string& text : texts) {
    Result<Assignment> one = split(command, option, text);
    if (!one) return one.error();
    for (const Assignment& other : all) {
      if (other.name != one->name) continue;
      return refuse(
          fmt::format("{} is given twice ({} {}): leave one out", one->name, option, text));
    }
    all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace hoist::cli
