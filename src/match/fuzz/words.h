// The words of a sequence, sorted.
#pragma once

#include <vector>

#include "match/fuzz/edit_distances.h"

namespace hoist::match {

// A sequence of which words may be asked.
struct Text {
  Text(Symbols text, bool narrow = false) : symbols(text), is_narrow(narrow) {}
  Text(const std::vector<uint32_t>& text) : symbols(text) {}

  size_t size() const { return symbols.size(); }
  bool empty() const { return symbols.empty(); }

  Symbols symbols;
  // Its symbols are bytes. RapidFuzz takes 0x85 and 0xA0 for whitespace in wider ones only.
  bool is_narrow = false;
};

using Words = std::vector<Symbols>;  // views of the text

Words sorted_words(const Text& text);
std::vector<uint32_t> joined(const Words& words);  // by spaces
// The same into memory that is used again.
void sort_words(const Text& text, Words& words);
void join(const Words& words, std::vector<uint32_t>& text);

// Each word once: what both have, and what only one has.
struct WordSets {
  WordSets() = default;
  WordSets(const Words& a, const Words& b) { set(a, b); }
  // The words must be sorted.
  void set(const Words& a, const Words& b);

  Words both;
  Words only_a;
  Words only_b;
};

}  // namespace hoist::match
