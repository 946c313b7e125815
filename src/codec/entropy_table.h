// The model of an entropy coder: which codes there are and how often each occurs, in 4096ths. One
// table serves any number of tiles; it can code any bytes, those best that look like its histogram.
//
//   Result<EntropyTable> table = EntropyTable::build(histogram);
//   std::string stored = table->serialise();             // some hundred bytes
//   Result<EntropyTable> same = EntropyTable::parse(stored);
//
// Immutable once made, so any number of threads may use it. About 280 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/rans_format.h"
#include "codec/symbol_histogram.h"

namespace hoist::codec {

// A value with a code of its own: a symbol, or two (first | second << 8).
struct EntropyCode {
  uint16_t value;
  uint16_t frequency;  // 1 .. 4095
  friend bool operator==(const EntropyCode&, const EntropyCode&) = default;
};

class EntropyTable {
 public:
  // Pairs where they cost at most 0.4 % more than single symbols (they decode nearly twice as
  // fast), else single symbols. `invalid_argument` for an empty histogram.
  static Result<EntropyTable> build(const SymbolHistogram& histogram);
  // The same with 1 or 2 symbols a code, as given.
  static Result<EntropyTable> build(const SymbolHistogram& histogram, uint32_t symbols_per_code);
  // Builds a table for single symbols from how often each occurs, which the histogram's singles()
  // give.
  static Result<EntropyTable> build(std::span<const uint64_t, 256> singles);

  // `corrupt` for everything that serialise() does not write. docs/reference/entropy.md has the
  // bytes.
  static Result<EntropyTable> parse(std::span<const std::byte> bytes);
  std::string serialise() const;

  uint32_t symbols_per_code() const { return decode_->symbols_per_code; }
  std::span<const EntropyCode> codes() const { return codes_; }  // by value, ascending
  uint32_t escape_frequency() const { return escape_frequency_; }

  // What symbols like these cost, bits a symbol, without a tile's 32 states.
  double cost(const SymbolHistogram& histogram) const;

  const RansDecodeTable& decode_table() const { return *decode_; }
  // Entry for every value, the escape's where a value has no code.
  std::span<const uint32_t> encode_table() const { return encode_; }
  // The cheapest value, which fills the last group of a tile up.
  uint16_t padding() const { return padding_; }

 private:
  EntropyTable(std::vector<EntropyCode> codes, uint32_t symbols_per_code);

  std::vector<EntropyCode> codes_;
  uint32_t escape_frequency_;
  uint16_t padding_;
  std::shared_ptr<const RansDecodeTable> decode_;
  std::vector<uint32_t> encode_;
};

}  // namespace hoist::codec
