// How coreutils writes file names: escaped in its output lines, quoted in its messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hoist::hash {

// A line with a name that holds backslash, newline or carriage return begins with a backslash, and
// the three are written as \\, \n and \r.
bool needs_escape(std::string_view name);
std::string escape_name(std::string_view name);
// The reverse. Nothing for another escape, a backslash at the end or a NUL byte.
std::optional<std::string> unescape_name(std::string_view text);

// As a shell would have to be given the name, and only where it needs quoting: bare, 'a b',
// "it's", 'a'$'\n''b'. Depends on LC_CTYPE. A colon counts as special, because it follows the name
// in messages.
std::string quote_name(std::string_view name);

}  // namespace hoist::hash
