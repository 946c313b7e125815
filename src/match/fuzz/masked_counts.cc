#include "match/fuzz/masked_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace hoist::match {
namespace {

template <typename Symbol>
using Other = std::span<const Symbol>;

// As std::popcount(), which is a call where the instruction may not be used.
uint64_t bits_of(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return word * 0x0101010101010101 >> 56;
}

constexpr size_t kFewWords = 8;  // that need no memory

uint64_t next_lcs(uint64_t state, uint64_t matches) {
  const uint64_t found = state & matches;
  return (state + found) | (state - found);
}

template <typename Symbol>
uint64_t short_lcs(const QueryMasks& masks, Other<Symbol> other) {
  uint64_t state = ~uint64_t{0};
  for (const Symbol symbol : other) {
    state = next_lcs(state, *masks.of(symbol));
  }
  return bits_of(~state);
}

template <typename Symbol>
uint64_t long_lcs(const QueryMasks& masks, Other<Symbol> other) {
  const size_t words = masks.words();
  uint64_t few[kFewWords];
  std::vector<uint64_t> many(words <= kFewWords ? 0 : words);
  uint64_t* const state = words <= kFewWords ? few : many.data();
  std::fill_n(state, words, ~uint64_t{0});
  for (const Symbol symbol : other) {
    const uint64_t* const row = masks.of(symbol);
    uint64_t carry = 0;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t matches = state[w] & row[w];
      const uint64_t part = state[w] + carry;
      const uint64_t sum = part + matches;
      carry = static_cast<uint64_t>(part < carry) | static_cast<uint64_t>(sum < matches);
      state[w] = sum | (state[w] - matches);
    }
  }
  uint64_t count = 0;
  for (size_t w = 0; w < words; ++w) count += bits_of(~state[w]);
  return count;
}

// The bits that a sequence has in a word of its masks.
uint64_t positions(size_t size, size_t word) {
  const size_t left = size - 64 * word;
  return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

// A column of the matrix of Levenshtein distances, or of those with transpositions (H. Hyyrö, "A
// bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003).
struct Column {
  uint64_t up = ~uint64_t{0};  // where a cell is one more than that above it
  uint64_t down = 0;
  uint64_t diagonal = 0;  // where it is what the one above the left one is
  uint64_t before = 0;    // what matched in the last step
};

template <bool kSwaps>
void step(Column& column, uint64_t matches) {
  const uint64_t swapped = kSwaps ? ((~column.diagonal & matches) << 1) & column.before : 0;
  const uint64_t up = column.up;
  column.diagonal = (((matches & up) + up) ^ up) | matches | column.down | swapped;
  const uint64_t right_up = (column.down | ~(column.diagonal | up)) << 1 | 1;
  const uint64_t right_down = (column.diagonal & up) << 1;
  column.up = right_down | ~(column.diagonal | right_up);
  column.down = right_up & column.diagonal;
  column.before = matches;
}

// The last row of the matrix begins at the other's length, and the column has the steps from it.
uint64_t distance_of(const Column& column, size_t size, size_t other) {
  const uint64_t all = positions(size, 0);
  return other + bits_of(column.up & all) - bits_of(column.down & all);
}

template <bool kSwaps, typename Masks, typename Symbol>
uint64_t short_distance(const Masks& masks, Other<Symbol> other) {
  Column column;
  for (const Symbol symbol : other) step<kSwaps>(column, *masks.of(symbol));
  return distance_of(column, masks.size(), other.size());
}

template <bool kSwaps>
void four_distances(const QueryMasks& masks, const FourSequences& others, uint64_t* counts) {
  Column columns[kFour];
  for (size_t i = 0; i < others.length; ++i) {
    for (size_t k = 0; k < kFour; ++k) step<kSwaps>(columns[k], *masks.of(others.symbols[k][i]));
  }
  for (size_t k = 0; k < kFour; ++k) {
    counts[k] = distance_of(columns[k], masks.size(), others.length);
  }
}

template <bool kSwaps, typename Symbol>
uint64_t long_distance(const QueryMasks& masks, Other<Symbol> other) {
  const size_t words = masks.words();
  Column few[kFewWords];
  std::vector<Column> many(words <= kFewWords ? 0 : words);
  Column* const columns = words <= kFewWords ? few : many.data();
  for (const Symbol symbol : other) {
    const uint64_t* const row = masks.of(symbol);
    uint64_t carry = 0;
    uint64_t carried_up = 1;
    uint64_t carried_down = 0;
    uint64_t carried_swap = 0;
    for (size_t w = 0; w < words; ++w) {
      Column& column = columns[w];
      const uint64_t matches = row[w];
      const uint64_t unequal = ~column.diagonal & matches;
      const uint64_t swapped = kSwaps ? (unequal << 1 | carried_swap) & column.before : 0;
      carried_swap = unequal >> 63;
      const uint64_t part = (matches & column.up) + column.up;
      const uint64_t sum = part + carry;
      carry = static_cast<uint64_t>(part < column.up) | static_cast<uint64_t>(sum < part);
      column.diagonal = (sum ^ column.up) | matches | column.down | swapped;
      uint64_t right_up = column.down | ~(column.diagonal | column.up);
      uint64_t right_down = column.diagonal & column.up;
      const uint64_t next_up = right_up >> 63;
      const uint64_t next_down = right_down >> 63;
      right_up = right_up << 1 | carried_up;
      right_down = right_down << 1 | carried_down;
      carried_up = next_up;
      carried_down = next_down;
      column.up = right_down | ~(column.diagonal | right_up);
      column.down = right_up & column.diagonal;
      column.before = matches;
    }
  }
  uint64_t distance = other.size();
  for (size_t w = 0; w < words; ++w) {
    const uint64_t all = positions(masks.size(), w);
    distance += bits_of(columns[w].up & all) - bits_of(columns[w].down & all);
  }
  return distance;
}

template <bool kSwaps>
uint64_t distance(const QueryMasks& masks, const Sequence& other) {
  return with_symbols(other, [&]<typename Symbol>(Other<Symbol> symbols) {
    return masks.words() == 1 ? short_distance<kSwaps>(masks, symbols)
                              : long_distance<kSwaps>(masks, symbols);
  });
}

constexpr size_t kShortOther = 128;

// For a sequence in one word, and another one of at most kShortOther symbols.
template <typename Masks, typename Symbol>
CommonSymbols short_common(const Masks& masks, Other<Symbol> other, size_t reach, uint64_t least) {
  const size_t rows = std::min(other.size(), masks.size() + reach);
  const uint64_t all = positions(masks.size(), 0);
  uint64_t free = all;
  uint64_t window = reach >= 63 ? ~uint64_t{0} : (uint64_t{2} << reach) - 1;
  uint64_t takers[kShortOther / 64] = {};  // by place
  CommonSymbols out;
  for (size_t j = 0; j < rows; ++j) {
    const uint64_t found = *masks.of(other[j]) & free & window;
    free ^= found & -found;
    const auto has_taken = static_cast<uint64_t>(found != 0);
    takers[j / 64] |= has_taken << (j % 64);
    window = window << 1 | static_cast<uint64_t>(j < reach);
  }
  uint64_t taken = all & ~free;
  out.count = bits_of(taken);
  if (out.count < least) return out;
  for (size_t w = 0; w < std::size(takers); ++w) {
    for (uint64_t bits = takers[w]; bits != 0; bits &= bits - 1, taken &= taken - 1) {
      const size_t j = 64 * w + static_cast<size_t>(std::countr_zero(bits));
      const uint64_t next = taken & -taken;
      out.moved += static_cast<uint64_t>((next & *masks.of(other[j])) == 0);
    }
  }
  return out;
}

template <typename Masks, typename Symbol>
CommonSymbols long_common(const Masks& masks, Other<Symbol> other, size_t reach) {
  const size_t size = masks.size();
  const size_t rows = std::min(other.size(), size + reach);
  thread_local std::vector<uint64_t> taken;
  thread_local std::vector<uint32_t> takers;
  // The first word in which a symbol may still have a free place: of bytes, by symbol.
  constexpr size_t kBytes = 256;
  std::array<uint32_t, kBytes> free_from = {};
  taken.assign(masks.words(), 0);
  takers.clear();
  for (size_t j = 0; j < rows; ++j) {
    const uint64_t* const row = masks.of(other[j]);
    const size_t begin = j > reach ? j - reach : 0;
    const size_t last = std::min(size - 1, j + reach);
    size_t first = begin / 64;
    if (other[j] < kBytes) {
      // Windows only move on, and what is taken stays so.
      uint32_t& from = free_from[other[j]];
      from = std::max(from, static_cast<uint32_t>(first));
      while (from < masks.words() && (row[from] & ~taken[from]) == 0) ++from;
      first = from;
    }
    for (size_t w = first; w <= last / 64; ++w) {
      uint64_t found = row[w] & ~taken[w];
      if (w == begin / 64) found &= ~uint64_t{0} << (begin % 64);
      if (w == last / 64) found &= ~uint64_t{0} >> (63 - last % 64);
      if (found == 0) continue;
      taken[w] |= found & -found;
      takers.push_back(static_cast<uint32_t>(j));
      break;
    }
  }
  CommonSymbols out;
  out.count = takers.size();
  size_t w = 0;
  uint64_t left = taken[0];
  for (const uint32_t j : takers) {
    while (left == 0) left = taken[++w];
    const uint64_t next = left & -left;
    out.moved += static_cast<uint64_t>((next & masks.of(other[j])[w]) == 0);
    left ^= next;
  }
  return out;
}

template <typename Masks, typename Symbol>
CommonSymbols common_symbols_of(const Masks& masks, Other<Symbol> other, uint64_t least) {
  const size_t reach = jaro_reach(masks.size(), other.size());
  const bool is_short = masks.words() == 1 && other.size() <= kShortOther;
  return is_short ? short_common(masks, other, reach, least) : long_common(masks, other, reach);
}

}  // namespace

uint64_t lcs_length(const QueryMasks& masks, const Sequence& other) {
  return with_symbols(other, [&]<typename Symbol>(Other<Symbol> symbols) {
    return masks.words() == 1 ? short_lcs(masks, symbols) : long_lcs(masks, symbols);
  });
}

uint64_t levenshtein_distance(const QueryMasks& masks, const Sequence& other) {
  return distance<false>(masks, other);
}

uint64_t osa_distance(const QueryMasks& masks, const Sequence& other) {
  return distance<true>(masks, other);
}

void lcs_lengths(const QueryMasks& masks, const FourSequences& others, uint64_t* counts) {
  uint64_t states[kFour] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  for (size_t i = 0; i < others.length; ++i) {
    for (size_t k = 0; k < kFour; ++k) {
      states[k] = next_lcs(states[k], *masks.of(others.symbols[k][i]));
    }
  }
  for (size_t k = 0; k < kFour; ++k) counts[k] = bits_of(~states[k]);
}

void levenshtein_distances(const QueryMasks& masks, const FourSequences& others, uint64_t* counts) {
  four_distances<false>(masks, others, counts);
}

void osa_distances(const QueryMasks& masks, const FourSequences& others, uint64_t* counts) {
  four_distances<true>(masks, others, counts);
}

uint64_t osa_distance(const ThreadMasks& masks, std::span<const uint8_t> other) {
  return short_distance<true>(masks, other);
}

CommonSymbols common_symbols(const QueryMasks& masks, const Sequence& other, uint64_t least) {
  if (masks.size() == 0) return {};
  return with_symbols(other, [&]<typename Symbol>(Other<Symbol> symbols) {
    return common_symbols_of(masks, symbols, least);
  });
}

CommonSymbols common_symbols(const ThreadMasks& masks, std::span<const uint8_t> other) {
  return common_symbols_of(masks, other, 0);
}

}  // namespace hoist::match
