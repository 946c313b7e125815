#include "match/fuzz/words.h"

#include <algorithm>
#include <iterator>

namespace hoist::match {
namespace {

// As Python's str.isspace(), but for what is narrow.
bool is_space_of(uint32_t symbol, bool is_narrow) {
  if (symbol == 0x85 || symbol == 0xA0) return !is_narrow;
  return (symbol >= 0x09 && symbol <= 0x0D) || (symbol >= 0x1C && symbol <= 0x20) ||
         symbol == 0x1680 || (symbol >= 0x2000 && symbol <= 0x200A) || symbol == 0x2028 ||
         symbol == 0x2029 || symbol == 0x202F || symbol == 0x205F || symbol == 0x3000;
}

bool is_before(const Symbols& a, const Symbols& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

Words sorted_words(const Text& text) {
  const auto is_space = [&](uint32_t symbol) { return is_space_of(symbol, text.is_narrow); };
  Words words;
  const auto last = text.symbols.end();
  for (auto begin = text.symbols.begin(); begin != last;) {
    begin = std::find_if_not(begin, last, is_space);
    const auto end = std::find_if(begin, last, is_space);
    if (begin != end) words.emplace_back(begin, end);
    begin = end;
  }
  std::sort(words.begin(), words.end(), is_before);
  return words;
}

std::vector<uint32_t> joined(const Words& words) {
  std::vector<uint32_t> text;
  for (const Symbols& word : words) {
    if (!text.empty()) text.push_back(' ');
    text.insert(text.end(), word.begin(), word.end());
  }
  return text;
}

WordSets::WordSets(const Words& a, const Words& b) {
  const auto once = [](Words words) {
    words.erase(std::unique(words.begin(), words.end(),
                            [](const Symbols& x, const Symbols& y) {
                              return std::equal(x.begin(), x.end(), y.begin(), y.end());
                            }),
                words.end());
    return words;
  };
  const Words of_a = once(a);
  const Words of_b = once(b);
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::back_inserter(both), is_before);
  std::set_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                      std::back_inserter(only_a), is_before);
  std::set_difference(of_b.begin(), of_b.end(), of_a.begin(), of_a.end(),
                      std::back_inserter(only_b), is_before);
}

}  // namespace hoist::match
