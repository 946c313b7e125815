// What the kernels that decode columns are told (records/gpu/decode.cu, decode_on_host.cc), and the
// arithmetic that both share. All pointers are the device's.
//
// A column of a block takes up to three steps, each a job: its streams of bytes become symbols, its
// stream of integers becomes the column's sequence (numbers, or codes of its dictionary), and the
// sequence becomes typed values, an entry for each row. The host has checked sizes and sources;
// what can be seen only while decoding is checked there, and sets a flag of the block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "codec/rans_format.h"
#include "records/predictor.h"

namespace hoist::records {

// What an EntropyTable of single symbols says, which becomes its slots on the device.
struct SymbolTable {
  uint16_t frequencies[256];  // of symbols; 0: no code
  uint16_t escape_frequency;
  uint16_t escape;  // its tag, or kRansNoEscape
};

// A tile of entropy-coded symbols.
struct SymbolJob {
  const SymbolTable* table;
  const uint8_t* bytes;  // aligned to 16 bytes, and readable up to the next such border
  uint8_t* symbols;      // aligned to 16 bytes
  uint32_t size;         // of `bytes`; `count`: stored as they are
  uint32_t count;        // symbols
  uint32_t flag;
};

enum class IntegerCoding : uint8_t {
  constant,  // base
  raw,       // zigzag, of raw_bytes each
  entries,   // entries[symbol]
  tokens,    // symbols with low bits, plus base
  zigzag     // the same, in zigzag
};

// A sequence: integers, and what they are differences from.
struct SequenceJob {
  int64_t* values;
  uint32_t count;   // of values
  uint32_t stored;  // 1: the first value is `first`; 0: there is none such
  int64_t first;
  IntegerCoding coding;
  Predictor predictor;
  uint8_t raw_bytes;  // 1, 2, 4 or 8
  uint8_t symbol;     // where `symbols` is null: all of them
  uint32_t flag;
  uint64_t base;
  const uint8_t* symbols;    // aligned to 16 bytes
  const uint64_t* low_bits;  // words, of which two more are readable
  uint64_t low_bytes;
  const void* raw;
  const int64_t* entries;
  uint32_t entry_count;
  uint32_t codes;  // of a dictionary: values are below; 0: no dictionary
  int64_t factor;  // of `moves`, 1 or more of `lag`
  // Sources, of as many values.
  const int64_t* a;
  const int64_t* b;
  const int64_t* group;
  uint32_t* last_positions;  // room for each code of the group
  uint32_t group_codes;
};

// Predictions that the kernels make.
HOIST_HD constexpr bool is_known(Predictor predictor) {
  switch (predictor) {
    case Predictor::ratio:
    case Predictor::pair_last:
    case Predictor::pair_other:
    case Predictor::group_ratio:
      return false;
    default:
      return predictor <= Predictor::running_last;
  }
}

// Whether value i is predicted from one that may be any before it: those go one after the other.
HOIST_HD constexpr bool looks_back(Predictor predictor) {
  return predictor == Predictor::group_last || predictor == Predictor::group_other ||
         predictor == Predictor::lag;
}

inline constexpr uint32_t kNoPosition = UINT32_MAX;

enum class ValueRule : uint8_t {
  integer,    // the number
  real,       // of a decimal of so many places
  scaled,     // times `factor`
  timestamp,  // times `factor`, minus `offset`
  answer,     // answers[code]
  between     // whether the number is from `least` to `most`, or else is not
};
enum class Element : uint8_t { int64, float64, float32, int32, uint8 };

HOIST_HD constexpr unsigned element_bytes(Element element) {
  return element == Element::uint8                                  ? 1
         : element == Element::int32 || element == Element::float32 ? 4
                                                                    : 8;
}

// What stands for a text: the bits of an int64 or a double, and whether it is a value.
struct Answer {
  uint64_t bits;
  uint64_t valid;
};

struct OutputJob {
  const int64_t* values;   // null: all codes are 0, or with `by_row` the row's number
  const uint32_t* places;  // of each row's value in the column, or kNoPosition; null: as rows
  // Values of the column that are no numbers, ascending, have an answer each.
  const uint32_t* exceptions;
  const Answer* answers;
  void* out;       // of the first row
  uint8_t* valid;  // may be null
  int64_t factor;
  int64_t offset;
  uint64_t missing;  // what a row without a value gets, of the element's type
  int64_t least;
  int64_t most;
  uint32_t exception_count;
  uint32_t answer_count;
  uint32_t first;  // row of the block
  uint32_t rows;
  uint32_t flag;
  ValueRule rule;
  Element element;
  uint8_t scale;
  bool by_row;
  bool outside;  // `between` means the other numbers
  bool both;     // `out` has a condition's answers already: both must hold
};

HOIST_HD constexpr int64_t from_zigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
}

// What a token stands for without its low bits, and how many of these there are (0 to 61).
HOIST_HD constexpr unsigned token_bits(unsigned symbol) {
  return symbol < 16 ? 0 : 2 + (symbol - 16) / 4;
}
HOIST_HD constexpr uint64_t token_base(unsigned symbol) {
  return symbol < 16 ? symbol : uint64_t{4 + (symbol - 16) % 4} << token_bits(symbol);
}

// `bits` (at most 63) bits from bit `at` on.
HOIST_HD inline uint64_t low_bits_at(const uint64_t* words, uint64_t at, unsigned bits) {
  const uint64_t low = words[at / 64];
  const uint64_t high = words[at / 64 + 1];
  const unsigned shift = at % 64;
  const uint64_t word = low >> shift | (shift == 0 ? 0 : high << (64 - shift));
  return word & ((uint64_t{1} << bits) - 1);
}

HOIST_HD inline uint64_t raw_at(const SequenceJob& job, uint32_t i) {
  switch (job.raw_bytes) {
    case 1:
      return static_cast<const uint8_t*>(job.raw)[i];
    case 2:
      return static_cast<const uint16_t*>(job.raw)[i];
    case 4:
      return static_cast<const uint32_t*>(job.raw)[i];
    default:
      return static_cast<const uint64_t*>(job.raw)[i];
  }
}

}  // namespace hoist::records
