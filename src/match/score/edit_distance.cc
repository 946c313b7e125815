#include "match/score/edit_distance.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace hoist::match {
namespace {

size_t lcs_of_one_word(const MatchMasks& query, std::span<const uint32_t> sequence) {
  uint64_t state = ~uint64_t{0};
  for (const uint32_t symbol : sequence) {
    const uint64_t matches = state & query.mask(symbol);
    state = (state + matches) | (state - matches);
  }
  return static_cast<size_t>(std::popcount(~state));
}

// One symbol's step through all words. Where a word has no match and no carry comes in, the step
// leaves it as it is.
void step_lcs(std::span<const MatchMasks::Entry> entries, std::span<uint64_t> state) {
  uint64_t carry = 0;
  size_t word = 0;
  auto entry = entries.begin();
  while (carry != 0 || entry != entries.end()) {
    if (carry == 0) word = entry->word;
    if (word == state.size()) return;
    uint64_t matches = 0;
    if (entry != entries.end() && entry->word == word) matches = state[word] & (entry++)->mask;
    uint64_t sum = 0;
    const bool overflow = __builtin_add_overflow(state[word], matches, &sum);
    carry = static_cast<uint64_t>(__builtin_add_overflow(sum, carry, &sum)) |
            static_cast<uint64_t>(overflow);
    state[word] = sum | (state[word] - matches);
    ++word;
  }
}

// Vertical differences of one word of rows: +1 in `up`, -1 in `down`.
struct Column {
  uint64_t up = ~uint64_t{0};
  uint64_t down = 0;
};

// Horizontal differences between words and of the last row.
struct Row {
  uint64_t up;
  uint64_t down;
};

// Takes one word a column further; gives the horizontal differences of its rows.
Row step_word(Column& column, uint64_t mask, Row above) {
  const uint64_t matches = mask | above.down;
  const uint64_t diagonal =
      (((matches & column.up) + column.up) ^ column.up) | matches | column.down;
  const Row rows = {column.down | ~(diagonal | column.up), diagonal & column.up};
  const uint64_t up = rows.up << 1 | above.up;
  const uint64_t down = rows.down << 1 | above.down;
  column.up = down | ~(diagonal | up);
  column.down = up & diagonal;
  return rows;
}

// Calls step(symbol) for each until it is cancelled, which is looked at after so many words.
constexpr size_t kWordsPerCheck = 1 << 20;

template <typename Step>
void for_each_symbol(std::span<const uint32_t> sequence, size_t words, const std::stop_token& stop,
                     const Step& step) {
  const size_t piece = kWordsPerCheck / words + 1;
  for (size_t begin = 0; begin < sequence.size(); begin += piece) {
    if (stop.stop_requested()) return;
    const auto symbols = sequence.subspan(begin, std::min(piece, sequence.size() - begin));
    for (const uint32_t symbol : symbols) step(symbol);
  }
}

}  // namespace

size_t lcs_length(const MatchMasks& query, std::span<const uint32_t> sequence,
                  const std::stop_token& stop) {
  if (query.words() <= 1) return lcs_of_one_word(query, sequence);
  std::vector<uint64_t> state(query.words(), ~uint64_t{0});
  for_each_symbol(sequence, query.words(), stop,
                  [&](uint32_t symbol) { step_lcs(query.entries(symbol), state); });
  size_t length = 0;
  for (const uint64_t word : state) length += static_cast<size_t>(std::popcount(~word));
  return length;
}

size_t levenshtein_distance(const MatchMasks& query, std::span<const uint32_t> sequence,
                            const std::stop_token& stop) {
  if (query.length() == 0) return sequence.size();
  std::vector<Column> columns(query.words());
  const size_t last_bit = (query.length() - 1) % 64;
  size_t distance = query.length();
  for_each_symbol(sequence, query.words(), stop, [&](uint32_t symbol) {
    const auto entries = query.entries(symbol);
    auto entry = entries.begin();
    Row above = {1, 0};
    Row rows = {};
    for (size_t word = 0; word < columns.size(); ++word) {
      uint64_t mask = 0;
      if (entry != entries.end() && entry->word == word) mask = (entry++)->mask;
      rows = step_word(columns[word], mask, above);
      above = {rows.up >> 63, rows.down >> 63};
    }
    distance += rows.up >> last_bit & 1;
    distance -= rows.down >> last_bit & 1;
  });
  return distance;
}

}  // namespace hoist::match
