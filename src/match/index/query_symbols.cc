#include "match/index/query_symbols.h"

#include <limits>
#include <string_view>
#include <unordered_map>

namespace hoist::match {

std::vector<uint32_t> query_symbols(const PatternText& state, const Vocabulary& vocabulary) {
  static_assert(std::numeric_limits<uint32_t>::max() - Vocabulary::kMaxSymbols > 65'535);
  std::vector<uint32_t> symbols(state.tokens.size());
  std::unordered_map<std::string_view, uint32_t> unknown;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (const auto id = vocabulary.find(state.tokens[i])) {
      symbols[i] = *id;
      continue;
    }
    const auto next = std::numeric_limits<uint32_t>::max() - static_cast<uint32_t>(unknown.size());
    symbols[i] = unknown.try_emplace(state.tokens[i], next).first->second;
  }
  return symbols;
}

}  // namespace hoist::match
