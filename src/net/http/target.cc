#include "net/http/target.h"

#include <algorithm>

namespace hoist::net {
namespace {

int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<HttpTarget> split_target(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t path = target.find_first_of("/?", scheme.size());
    if (path == std::string_view::npos) return HttpTarget{"/", {}};
    target.remove_prefix(path);
    if (target.front() == '?') return HttpTarget{"/", target.substr(1)};
    break;
  }
  if (target == "*") return HttpTarget{target, {}};
  if (!target.starts_with('/')) return std::nullopt;
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return HttpTarget{target, {}};
  return HttpTarget{target.substr(0, mark), target.substr(mark + 1)};
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i];
    if (byte == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      byte = static_cast<char>(high << 4 | low);
      i += 2;
    } else if (byte == '+' && plus_is_space) {
      byte = ' ';
    }
    if (byte == '\0') return std::nullopt;
    decoded += byte;
  }
  return decoded;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(
    std::string_view query) {
  std::vector<std::pair<std::string, std::string>> arguments;
  while (!query.empty()) {
    const std::string_view argument = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(argument.size() + 1, query.size()));
    if (argument.empty()) continue;
    const std::string_view name = argument.substr(0, argument.find('='));
    const std::string_view value = argument.substr(std::min(name.size() + 1, argument.size()));
    auto decoded_name = percent_decoded(name, true);
    auto decoded_value = percent_decoded(value, true);
    if (!decoded_name || !decoded_value) return std::nullopt;
    arguments.emplace_back(std::move(*decoded_name), std::move(*decoded_value));
  }
  return arguments;
}

}  // namespace hoist::net
