#include "match/pairs/short_edits.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "match/pairs/banded_edits.h"
#include "match/pairs/diagonals.h"
#include "match/pairs/edit_words.h"

namespace hoist::match {
namespace {

using Bytes = std::span<const uint8_t>;

template <typename Word, size_t kWords>
uint64_t in_matrix(Bytes rows, Bytes columns) {
  const ThreadMasks masks(rows, kWords);
  std::array<Word, kWords> words;
  for (const uint8_t symbol : columns) {
    const uint64_t* const mask = masks.of(symbol);
    typename Word::Carry carry;
    for (size_t i = 0; i < kWords; ++i) words[i].step(mask[i], carry);
  }
  int64_t sum = 0;
  for (size_t i = 0; i < kWords; ++i) {
    const auto left = static_cast<int64_t>(rows.size() - 64 * i);
    sum += words[i].sum(low_bits(std::min<int64_t>(64, left)));
  }
  return static_cast<uint64_t>(
      Word::edits(static_cast<int64_t>(columns.size()), static_cast<int64_t>(rows.size()), sum));
}

template <typename Word, size_t... kWordsLessOne>
uint64_t in_matrix_of(std::index_sequence<kWordsLessOne...> /*words*/, Bytes rows, Bytes columns) {
  static constexpr std::array kMatrices = {&in_matrix<Word, kWordsLessOne + 1>...};
  return kMatrices[(rows.size() - 1) / 64](rows, columns);
}

template <typename Word>
uint64_t in_any_matrix(Bytes rows, Bytes columns) {
  if (rows.size() <= 64) return in_matrix<Word, 1>(rows, columns);
  return in_matrix_of<Word>(std::make_index_sequence<(kMostShort + 63) / 64>(), rows, columns);
}

// Words of the rows, and one without rows before and after them.
constexpr size_t kWhole = (kMostShort + 63) / 64 + 2;
static_assert(kWhole <= ThreadMasks::kMostWords);

template <typename Diagonals>
uint64_t in_band(const EditBand& band, Bytes rows, Bytes columns, uint64_t most) {
  const ThreadMasks masks(rows, kWhole, 1);
  Diagonals diagonals(band.last, band.end);
  auto row = static_cast<size_t>(band.last + 1);  // the first of the word's, after 64 that are none
  for (size_t column = 0; column < columns.size();) {
    const size_t next = std::min(column + Diagonals::kColumnsPerBound, columns.size());
    for (; column < next; ++column, ++row) {
      const uint64_t* const mask = masks.of(columns[column]) + row / 64;
      diagonals.step(mask[0] >> row % 64 | mask[1] << 1 << (63 - row % 64));
    }
    if (diagonals.edits(static_cast<int64_t>(column)) > static_cast<int64_t>(most)) return most + 1;
  }
  return static_cast<uint64_t>(
      std::max<int64_t>(0, diagonals.edits(static_cast<int64_t>(columns.size()))));
}

}  // namespace

uint64_t short_edits(PairCount count, const Sequence& rows, const Sequence& columns,
                     uint64_t most) {
  const bool is_lcs = count == PairCount::lcs;
  const ByteSymbols bytes(rows, columns);
  if (rows.length > 64 && most < rows.length) {
    const EditBand band(rows.length, columns.length, most);
    if (band.last - band.first < 64) {
      return is_lcs ? in_band<LcsDiagonals>(band, bytes.first(), bytes.second(), most)
                    : in_band<LevenshteinDiagonals>(band, bytes.first(), bytes.second(), most);
    }
  }
  const uint64_t edits = is_lcs ? in_any_matrix<LcsRows>(bytes.first(), bytes.second())
                                : in_any_matrix<LevenshteinRows>(bytes.first(), bytes.second());
  return edits > most ? most + 1 : edits;
}

}  // namespace hoist::match
