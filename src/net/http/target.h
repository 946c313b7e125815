// A request's target: its path and query, decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::net {

struct HttpTarget {
  std::string_view path;   // still encoded; begins with '/', or is "*"
  std::string_view query;  // still encoded, without the '?'
};

// Takes "/path?query" or "http://host/path?query"; gives nothing for what is neither.
std::optional<HttpTarget> split_target(std::string_view target);

// Resolves %XX. Nothing where two hexadecimal digits lack, or where the result has a NUL byte.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space = false);

// "a=1&b=x+y": names and values in order; a name without '=' has the value "".
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace hoist::net
