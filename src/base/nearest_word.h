// Which known word is meant by one that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hoist {

// The known word that takes the fewest changes of letters, at most two, and fewer than it has
// letters; empty where none does.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace hoist
