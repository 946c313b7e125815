#include "match/fuzz/words.h"

#include <algorithm>

namespace hoist::match {
namespace {

// As Python's str.isspace(), but for what is narrow.
bool is_space_of(uint32_t symbol, bool is_narrow) {
  if (symbol > 0x20 && symbol < 0x85) return false;
  if (symbol == 0x85 || symbol == 0xA0) return !is_narrow;
  return (symbol >= 0x09 && symbol <= 0x0D) || (symbol >= 0x1C && symbol <= 0x20) ||
         symbol == 0x1680 || (symbol >= 0x2000 && symbol <= 0x200A) || symbol == 0x2028 ||
         symbol == 0x2029 || symbol == 0x202F || symbol == 0x205F || symbol == 0x3000;
}

// As std::lexicographical_compare_three_way.
int order_of(const Symbols& a, const Symbols& b) {
  const size_t size = std::min(a.size(), b.size());
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

constexpr size_t kFewWords = 16;

// Sorted already, most of the time, or nearly so.
void sort_few(Words& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const Symbols word = words[i];
    size_t place = i;
    for (; place > 0 && order_of(word, words[place - 1]) < 0; --place) {
      words[place] = words[place - 1];
    }
    words[place] = word;
  }
}

// The place of the next other word.
size_t after(const Words& words, size_t place) {
  size_t next = place + 1;
  while (next < words.size() && order_of(words[next], words[place]) == 0) ++next;
  return next;
}

}  // namespace

void sort_words(const Text& text, Words& words) {
  words.clear();
  const uint32_t* const symbols = text.symbols.data();
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_space_of(symbols[i], text.is_narrow)) continue;
    if (begin != i) words.push_back(text.symbols.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (words.size() <= kFewWords) return sort_few(words);
  std::sort(words.begin(), words.end(),
            [](const Symbols& a, const Symbols& b) { return order_of(a, b) < 0; });
}

Words sorted_words(const Text& text) {
  Words words;
  sort_words(text, words);
  return words;
}

void join(const Words& words, std::vector<uint32_t>& text) {
  size_t size = words.empty() ? 0 : words.size() - 1;
  for (const Symbols& word : words) size += word.size();
  text.resize(size);
  uint32_t* out = text.data();
  for (const Symbols& word : words) {
    if (out != text.data()) *out++ = ' ';
    out = std::copy(word.begin(), word.end(), out);
  }
}

std::vector<uint32_t> joined(const Words& words) {
  std::vector<uint32_t> text;
  join(words, text);
  return text;
}

void WordSets::set(const Words& a, const Words& b) {
  both.clear();
  only_a.clear();
  only_b.clear();
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : order_of(a[i], b[j]);
    (order == 0 ? both : order < 0 ? only_a : only_b).push_back(order > 0 ? b[j] : a[i]);
    if (order <= 0) i = after(a, i);
    if (order >= 0) j = after(b, j);
  }
}

}  // namespace hoist::match
