#include "records/tokens_and_bits.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/varint.h"

namespace hoist::records {
namespace {

struct Base {
  uint64_t value;  // with zeros in the bits below
  uint8_t bits;
};

constexpr std::array<Base, 256> make_bases() {
  std::array<Base, 256> bases{};
  for (unsigned symbol = 0; symbol < 256; ++symbol) {
    if (symbol < 16) {
      bases[symbol] = {symbol, 0};
      continue;
    }
    const unsigned width = 5 + (symbol - 16) / 4;
    const uint64_t top = 4 + (symbol - 16) % 4;
    bases[symbol] = {top << (width - 3), static_cast<uint8_t>(width - 3)};
  }
  return bases;
}
constexpr std::array<Base, 256> kBases = make_bases();

Error damaged() { return fail(ErrorCode::corrupt, "tokens of the block are damaged"); }

class BitWriter {
 public:
  explicit BitWriter(size_t bits) : bytes_(bits / 8 + 1 + sizeof(uint64_t)) {}

  // At most 56 bits.
  void put(uint64_t value, unsigned bits) {
    uint64_t word;
    std::memcpy(&word, bytes_.data() + (at_ >> 3), sizeof word);
    word |= value << (at_ & 7);
    std::memcpy(bytes_.data() + (at_ >> 3), &word, sizeof word);
    at_ += bits;
  }
  std::string_view bytes() const { return {bytes_.data(), (at_ + 7) / 8}; }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

constexpr unsigned kAtOnce = 32;

}  // namespace

void encode_tokens(std::span<const uint64_t> values, Effort effort, std::string& out) {
  std::vector<uint8_t> symbols(values.size());
  size_t bits = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Token token = token_of(values[i]);
    symbols[i] = token.symbol;
    bits += token.bits;
  }
  BitWriter writer(bits);
  for (const uint64_t value : values) {
    unsigned left = token_of(value).bits;
    uint64_t low = value & ((uint64_t{1} << left) - 1);
    if (left > kAtOnce) {
      writer.put(low & 0xffffffff, kAtOnce);
      low >>= kAtOnce;
      left -= kAtOnce;
    }
    writer.put(low, left);
  }
  std::string coded;
  encode_bytes(symbols, effort, coded);
  write_varint(out, coded.size());
  out += coded;
  out += writer.bytes();
}

Status decode_tokens(std::span<const std::byte> stream, std::span<uint64_t> out) {
  ByteReader in(stream);
  const std::span<const std::byte> coded = in.take(read_varint(in));
  if (!in.ok()) return damaged();
  std::vector<uint8_t> symbols(out.size());
  if (Status status = decode_bytes(coded, symbols); !status) return status;
  uint64_t bits = 0;
  for (const uint8_t symbol : symbols) bits += kBases[symbol].bits;
  const std::span<const std::byte> low = in.take(in.remaining());
  if (low.size() != (bits + 7) / 8) return damaged();
  // Eight bytes more let every value be read as a word.
  std::vector<std::byte> padded(low.size() + 2 * sizeof(uint64_t));
  if (!low.empty()) std::memcpy(padded.data(), low.data(), low.size());
  uint64_t at = 0;
  const auto take = [&](unsigned count) {
    uint64_t word;
    std::memcpy(&word, padded.data() + (at >> 3), sizeof word);
    word >>= at & 7;
    at += count;
    return word & ((uint64_t{1} << count) - 1);
  };
  for (size_t i = 0; i < out.size(); ++i) {
    const Base base = kBases[symbols[i]];
    if (base.bits <= kAtOnce) {
      out[i] = base.value | take(base.bits);
      continue;
    }
    const uint64_t first = take(kAtOnce);
    out[i] = base.value | first | take(base.bits - kAtOnce) << kAtOnce;
  }
  return {};
}

}  // namespace hoist::records
