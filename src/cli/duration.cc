#include "cli/duration.h"

#include <charconv>
#include <cmath>

namespace hoist::cli {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  double milliseconds;
};

constexpr Unit kUnits[] = {{"ms", 1},   {"s", 1e3},    {"min", 60e3},
                           {"m", 60e3}, {"h", 3600e3}, {"d", 86'400e3}};

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
  // Neither 1e3 nor nan.
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(digits.size())) continue;
    const double time = std::ceil(number * unit.milliseconds);
    if (time > static_cast<double>(milliseconds(kLongestDuration).count())) return std::nullopt;
    return milliseconds(static_cast<int64_t>(time));
  }
  return std::nullopt;
}

}  // namespace hoist::cli
