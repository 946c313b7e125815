#include "match/pairs/edit_matrix.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "match/pairs/edit_words.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {
namespace {

constexpr size_t kBytes = 256;
// Columns after which a strip looks whether it is cancelled.
constexpr size_t kPiece = size_t{1} << 20;

// The carry of the first word of each strip: one more to the right in each column, or nothing in
// common.
template <typename Word>
constexpr uint8_t first_carry() {
  return typename Word::Carry().packed();
}

// Takes words through columns. `masks` has the rows of each symbol, kWords words of them.
// `carries` come from the strip above and go to the one below; a strip that is alone has none.
template <typename Word, typename Symbol, size_t kWords, bool kIsAlone>
void run_strip(Word* strip, const uint64_t* masks, std::span<const Symbol> columns,
               uint8_t* carries) {
  Word words[kWords];
  std::copy_n(strip, kWords, words);
  for (size_t column = 0; column < columns.size(); ++column) {
    const uint64_t* const mask = masks + size_t{columns[column]} * kWords;
    typename Word::Carry carry;
    if constexpr (!kIsAlone) carry = Word::Carry::unpacked(carries[column]);
    for (size_t i = 0; i < kWords; ++i) words[i].step(mask[i], carry);
    if constexpr (!kIsAlone) carries[column] = carry.packed();
  }
  std::copy_n(words, kWords, strip);
}

template <typename Word, typename Symbol, bool kIsAlone, size_t... kWordsLessOne>
constexpr auto strips_of(std::index_sequence<kWordsLessOne...> /*words*/) {
  return std::array{&run_strip<Word, Symbol, kWordsLessOne + 1, kIsAlone>...};
}

// By words, less one.
template <typename Word, typename Symbol, bool kIsAlone>
constexpr auto kStrips = strips_of<Word, Symbol, kIsAlone>(std::make_index_sequence<kStripWords>());

template <typename Word>
int64_t sum_of(std::span<const Word> words, size_t rows) {
  int64_t sum = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t left = rows - 64 * i;
    sum += words[i].sum(left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0});
  }
  return sum;
}

// Symbols are below `distinct`, for whose masks `masks`, which are zero, have room.
template <typename Word, typename Symbol>
uint64_t edits_of(std::span<const Symbol> rows, std::span<const Symbol> columns, uint64_t* masks,
                  const std::stop_token& stop) {
  const bool is_alone = rows.size() <= 64 * kStripWords;
  std::vector<uint8_t> carries;
  if (!is_alone) carries.assign(columns.size(), first_carry<Word>());
  int64_t sum = 0;
  for (size_t begin = 0; begin < rows.size(); begin += 64 * kStripWords) {
    const auto strip = rows.subspan(begin, std::min(64 * kStripWords, rows.size() - begin));
    const size_t count = (strip.size() + 63) / 64;
    for (size_t i = 0; i < strip.size(); ++i) {
      masks[strip[i] * count + i / 64] |= uint64_t{1} << i % 64;
    }
    std::array<Word, kStripWords> words;
    for (size_t column = 0; column < columns.size(); column += kPiece) {
      if (stop.stop_requested()) return 0;
      const auto piece = columns.subspan(column, std::min(kPiece, columns.size() - column));
      if (is_alone) {
        kStrips<Word, Symbol, true>[count - 1](words.data(), masks, piece, nullptr);
      } else {
        kStrips<Word, Symbol, false>[count - 1](words.data(), masks, piece,
                                                carries.data() + column);
      }
    }
    sum += sum_of(std::span<const Word>(words).first(count), strip.size());
    if (is_alone) break;
    for (size_t i = 0; i < strip.size(); ++i) masks[strip[i] * count + i / 64] = 0;
  }
  return static_cast<uint64_t>(
      Word::edits(static_cast<int64_t>(columns.size()), static_cast<int64_t>(rows.size()), sum));
}

template <typename Symbol>
uint64_t edits_of(PairCount count, std::span<const Symbol> rows, std::span<const Symbol> columns,
                  uint64_t* masks, const std::stop_token& stop) {
  return count == PairCount::lcs ? edits_of<LcsRows>(rows, columns, masks, stop)
                                 : edits_of<LevenshteinRows>(rows, columns, masks, stop);
}

std::span<const uint8_t> bytes_of(const Sequence& sequence) {
  return {static_cast<const uint8_t*>(sequence.symbols), sequence.length};
}

}  // namespace

uint64_t matrix_edits(PairCount count, const Sequence& rows, const Sequence& columns,
                      const std::stop_token& stop) {
  if (rows.length == 0) return columns.length;
  const bool are_bytes = rows.width == 1 && columns.width == 1;
  const size_t words = std::min(kStripWords, (size_t{rows.length} + 63) / 64);
  if (are_bytes) {
    std::vector<uint64_t> masks(kBytes * words);
    return edits_of(count, bytes_of(rows), bytes_of(columns), masks.data(), stop);
  }
  SymbolNumbers numbers;
  std::vector<uint32_t> row_numbers(rows.length);
  numbers.add(rows, row_numbers.data());
  NumberedSequence column_numbers;
  column_numbers.set(columns, numbers);
  std::vector<uint64_t> masks(size_t{numbers.size()} * words);
  return edits_of(count, std::span<const uint32_t>(row_numbers), column_numbers.all(), masks.data(),
                  stop);
}

}  // namespace hoist::match
