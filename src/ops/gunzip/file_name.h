// Names of compressed files and of what comes out of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::gunzip {

// The name without its suffix (with .tar for .tgz and .taz); nothing where it has none that gzip
// knows. `suffix` is the one of -S, in lower case.
std::optional<std::string> uncompressed_name(std::string_view path, std::string_view suffix);

// Names to try, in order, for an operand of which no file exists under its own name. The first one
// is the one that gzip complains about when there is none.
std::vector<std::string> names_with_suffix(std::string_view path, std::string_view suffix);

// Where `gzip -N` puts a file of the name stored in `path`: beside it, whatever directories the
// stored name has. Nothing for names that gzip treats specially (empty, dots, too long).
std::optional<std::string> restored_name(std::string_view path, std::string_view stored);

// The last component of a path, with the slashes that follow it: what gzip calls itself.
std::string_view last_component(std::string_view path);

}  // namespace hoist::gunzip
