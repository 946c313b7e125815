#include "match/pairs/banded_edits.h"

#include <array>
#include <cstddef>
#include <utility>

#include "match/pairs/diagonals.h"
#include "match/pairs/edit_words.h"
#include "match/score/common_ends.h"

namespace hoist::match {
namespace {

constexpr int64_t kStretch = EditBand::kStretch;

// They change no number of edits.
uint64_t symbols_equal_at_end(const Sequence& a, const Sequence& b) {
  return with_symbols(a, [&](const auto x) {
    return with_symbols(b, [&](const auto y) {
      const auto size = static_cast<int64_t>(std::min(x.size(), y.size()));
      return static_cast<uint64_t>(equal_at_end(x.data() + x.size(), y.data() + y.size(), size));
    });
  });
}

// Words of rows lie in a ring, and with them for each symbol a mask of the rows at which it is.
template <typename Word>
struct Ring {
  size_t after(size_t slot) const { return slot + 1 == words.size() ? 0 : slot + 1; }

  std::span<Word> words;
  const uint64_t* masks;
  size_t distinct;  // masks of a word
};

// Takes words from `begin` on through columns; gives the slot after them. `carries` are what goes
// out of the last of them in each column, and before that what came into the first unless it is the
// matrix's or the band's.
template <typename Word, size_t kWords, bool kIsFirst>
size_t run_words(const Ring<Word>& ring, size_t begin, std::span<const uint32_t> columns,
                 typename Word::Carry* carries) {
  Word words[kWords];
  const uint64_t* masks[kWords];
  for (size_t i = 0, slot = begin; i < kWords; ++i, slot = ring.after(slot)) {
    words[i] = ring.words[slot];
    masks[i] = ring.masks + slot * ring.distinct;
  }
  for (const uint32_t symbol : columns) {
    typename Word::Carry carry = {};
    if constexpr (!kIsFirst) carry = *carries;
    for (size_t i = 0; i < kWords; ++i) words[i].step(masks[i][symbol], carry);
    *carries++ = carry;
  }
  for (const Word& word : words) {
    ring.words[begin] = word;
    begin = ring.after(begin);
  }
  return begin;
}

// So many words at a time stay in registers.
constexpr size_t kHeldWords = 8;

template <typename Word, bool kIsFirst, size_t... kWordsLessOne>
constexpr auto runs_of_words(std::index_sequence<kWordsLessOne...> /*words*/) {
  return std::array{&run_words<Word, kWordsLessOne + 1, kIsFirst>...};
}

// The same for any number of words and at most kStretch columns.
template <typename Word>
void run_ring(const Ring<Word>& ring, size_t begin, size_t size,
              std::span<const uint32_t> columns) {
  static constexpr std::make_index_sequence<kHeldWords> kWords;
  static constexpr auto kFirst = runs_of_words<Word, true>(kWords);
  static constexpr auto kNext = runs_of_words<Word, false>(kWords);
  typename Word::Carry carries[kStretch];
  size_t part = std::min(size, kHeldWords);
  size_t slot = kFirst[part - 1](ring, begin, columns, carries);
  while ((size -= part) != 0) {
    part = std::min(size, kHeldWords);
    slot = kNext[part - 1](ring, slot, columns, carries);
  }
}

}  // namespace

uint64_t BandedEdits::count(PairCount count, NumberedSequence& a, NumberedSequence& b,
                            uint64_t most, uint64_t columns) {
  uint64_t m = a.length();
  uint64_t n = b.length();
  if (columns >= n) {
    const uint64_t equal = symbols_equal_at_end(a.sequence(), b.sequence());
    m -= equal;
    n -= equal;
  }
  if (m == 0 || n == 0) return m + n;
  const bool lcs = count == PairCount::lcs;
  most = std::min(most, lcs ? m + n : std::max(m, n));
  const EditBand band(static_cast<uint32_t>(m), static_cast<uint32_t>(n), most);
  columns = std::min(columns, n);
  const uint64_t edits = is_in_one_word(band)
                             ? (lcs ? in_one_word<LcsDiagonals>(band, a, b, columns, most)
                                    : in_one_word<LevenshteinDiagonals>(band, a, b, columns, most))
                             : (lcs ? in_words<LcsRows>(band, a, b, columns, most)
                                    : in_words<LevenshteinRows>(band, a, b, columns, most));
  return std::min(edits, most + 1);
}

void BandedEdits::fill_whole(NumberedSequence& a, size_t rows) {
  const auto mask = [&](size_t row) -> uint64_t& {
    return whole_[(row / 64 + 1) * distinct_ + rows_[row]];
  };
  if (of_ != a.sequence().symbols) {
    for (size_t row = 0; row < rows_.size(); ++row) mask(row) = 0;
    of_ = a.sequence().symbols;
    rows_.clear();
  }
  // No further than it is asked for: where sequences have little in common, that is a small part.
  whole_.resize(std::max(whole_.size(), whole_words(rows) * distinct_));
  const size_t end = std::min(rows, size_t{a.length()});
  const uint32_t* const symbols = a.front(end);
  for (size_t row = rows_.size(); row < end; ++row) {
    rows_.push_back(symbols[row]);
    mask(row) |= uint64_t{1} << row % 64;
  }
}

// Bit 63 is the lowest diagonal.
template <typename Diagonals>
uint64_t BandedEdits::in_one_word(const EditBand& band, NumberedSequence& a, NumberedSequence& b,
                                  uint64_t columns, uint64_t most) {
  const auto last = static_cast<size_t>(band.last);
  Diagonals diagonals(band.last, band.end);
  int64_t edits = 0;
  for (size_t column = 0; column < columns;) {
    // The first of the word's rows, after 64 that are none; and columns with the same two words.
    size_t row = column + last + 1;
    const size_t same = 64 - row % 64;
    const size_t next = std::min({column + same, column + Diagonals::kColumnsPerBound, columns});
    if (of_ != a.sequence().symbols || rows_.size() < next + last) fill_whole(a, next + last);
    const uint64_t* const masks = whole_.data() + row / 64 * distinct_;
    const uint64_t* const next_masks = masks + distinct_;
    const uint32_t* const symbols = b.front(next);
    for (; column < next; ++column, ++row) {
      const uint32_t symbol = symbols[column];
      diagonals.step(masks[symbol] >> row % 64 | next_masks[symbol] << 1 << (63 - row % 64));
    }
    edits = diagonals.edits(static_cast<int64_t>(column));
    if (edits > static_cast<int64_t>(most) || is_cancelled()) break;
  }
  return static_cast<uint64_t>(std::max<int64_t>(0, edits));
}

// Words lie in a ring, by their number.
template <typename Word>
uint64_t BandedEdits::in_words(const EditBand& band, NumberedSequence& a, NumberedSequence& b,
                               uint64_t columns, uint64_t most) {
  const auto rows = static_cast<size_t>(band.rows);
  const size_t ring = band.words();
  if (ring_.size() < ring * distinct_) ring_.resize(ring * distinct_);
  std::vector<Word> words(ring);
  const auto for_rows = [&](size_t word, const auto& change) {
    uint64_t* const masks = ring_.data() + word % ring * distinct_;
    const size_t end = std::min(rows, 64 * word + 64);
    const uint32_t* const symbols = a.front(end);
    for (size_t row = 64 * word; row < end; ++row) {
      change(masks[symbols[row]], uint64_t{1} << row % 64);
    }
  };
  size_t left = 0;     // words so far that have left the band
  size_t entered = 0;  // and that have entered it
  int64_t sum = 0;     // of those that have left it
  const auto leave = [&](size_t word) {
    sum += words[word % ring].sum(~uint64_t{0});
    for_rows(word, [](uint64_t& mask, uint64_t) { mask = 0; });
  };
  const auto enter = [&](size_t word) {
    words[word % ring] = Word();
    for_rows(word, [](uint64_t& mask, uint64_t bit) { mask |= bit; });
  };
  const auto word_of = [](int64_t row) {
    return static_cast<size_t>(std::max<int64_t>(0, row) / 64);
  };
  int64_t edits = 0;
  const auto last_column = static_cast<int64_t>(columns);
  for (int64_t column = 0; column < last_column;) {
    const int64_t next = std::min(column + kStretch, last_column);
    while (left < word_of(column + band.first)) leave(left++);
    while (entered <= std::min(word_of(next - 1 + band.last), word_of(band.rows - 1)))
      enter(entered++);
    run_ring<Word>(
        {words, ring_.data(), distinct_}, left % ring, entered - left,
        {b.front(static_cast<size_t>(next)) + column, static_cast<size_t>(next - column)});
    column = next;
    // Down to the diagonal of the last cell.
    const int64_t row = std::max<int64_t>(0, column + band.end);
    int64_t above = sum;
    for (size_t word = left; word < entered && static_cast<int64_t>(64 * word) < row; ++word) {
      above += words[word % ring].sum(
          low_bits(std::min<int64_t>(64, row - 64 * static_cast<int64_t>(word))));
    }
    edits = Word::edits(column, row, above);
    if (edits > static_cast<int64_t>(most) || is_cancelled()) break;
  }
  while (left < entered) leave(left++);
  return static_cast<uint64_t>(edits);
}

}  // namespace hoist::match
