#include "codec/entropy_tile.h"

#include <algorithm>
#include <cstring>

namespace hoist::codec {
namespace {

std::vector<std::byte> stored(std::span<const uint8_t> symbols) {
  const auto bytes = std::as_bytes(symbols);
  return {bytes.begin(), bytes.end()};
}

// The words of `groups` groups. The last kRansMaxGroupWords words are decoded from a padded copy,
// so that no implementation has to check its reads inside a group.
class WordSource {
 public:
  WordSource(std::span<const std::byte> words, const RansDecodeTable& table,
             const RansImplementation& rans)
      : words_(words), table_(table), decode_(*rans.decoder(table)) {}

  bool decode(uint32_t (&states)[kRansLanes], size_t groups, uint8_t* symbols) {
    if (!in_tail_ && left() >= kRansMaxGroupWords) {
      const RansProgress done =
          decode_(table_, words_.data(), left() - kRansMaxGroupWords, states, groups, symbols);
      words_ = words_.subspan(2 * done.words);
      groups -= done.groups;
      symbols += done.groups * kRansGroupSymbols;
    }
    if (groups == 0) return true;
    if (!in_tail_) enter_tail();
    const RansProgress done =
        decode_(table_, tail_ + 2 * tail_taken_, tail_size_ - tail_taken_, states, groups, symbols);
    tail_taken_ += done.words;
    return done.groups == groups && tail_taken_ <= tail_size_;
  }

  bool at_end() const { return in_tail_ ? tail_taken_ == tail_size_ : left() == 0; }

 private:
  size_t left() const { return words_.size() / 2; }

  void enter_tail() {
    in_tail_ = true;
    tail_size_ = left();
    std::memcpy(tail_, words_.data(), words_.size());
  }

  std::span<const std::byte> words_;
  const RansDecodeTable& table_;
  RansDecode& decode_;
  bool in_tail_ = false;
  size_t tail_size_ = 0;
  size_t tail_taken_ = 0;
  // Words left at the end, then zeros for a group that takes more than there are.
  std::byte tail_[2 * 2 * kRansMaxGroupWords] = {};
};

}  // namespace

bool valid_tile(const EntropyTile& tile) {
  if (tile.size == tile.symbols) return true;
  return tile.size < tile.symbols && tile.size >= kRansHeaderBytes && tile.size % 2 == 0;
}

std::vector<std::byte> encode_tile(std::span<const uint8_t> symbols, const EntropyTable& table,
                                   const RansImplementation& rans) {
  RansEncode* const encode = rans.encoder(table.decode_table());
  // Words grow downwards from the end; what needs as much room as the symbols is stored.
  std::vector<uint16_t> words(symbols.size() / 2 + kRansMaxGroupWords);
  uint16_t* const end = words.data() + words.size();
  uint32_t states[kRansLanes];
  std::fill(std::begin(states), std::end(states), kRansLowerBound);
  const size_t groups = symbols.size() / kRansGroupSymbols;
  uint16_t* at = end;
  if (const size_t rest = symbols.size() % kRansGroupSymbols; rest != 0) {
    uint8_t last[kRansGroupSymbols];
    const uint16_t padding = table.padding();
    for (size_t i = 0; i < kRansGroupSymbols; i += 2) {
      last[i] = static_cast<uint8_t>(padding);
      last[i + 1] = static_cast<uint8_t>(table.symbols_per_code() == 1 ? padding : padding >> 8);
    }
    std::memcpy(last, symbols.data() + groups * kRansGroupSymbols, rest);
    at = encode(table.encode_table(), table.decode_table(), last, 1, states, words.data(), at);
  }
  at = encode(table.encode_table(), table.decode_table(), symbols.data(), groups, states,
              words.data(), at);
  const size_t size = kRansHeaderBytes + 2 * static_cast<size_t>(at == nullptr ? 0 : end - at);
  if (at == nullptr || size >= symbols.size()) return stored(symbols);
  std::vector<std::byte> tile(size);
  std::memcpy(tile.data(), states, kRansHeaderBytes);
  std::memcpy(tile.data() + kRansHeaderBytes, at, size - kRansHeaderBytes);
  return tile;
}

bool decode_tile(std::span<const std::byte> tile, const EntropyTable& table,
                 std::span<uint8_t> symbols, const RansImplementation& rans) {
  if (tile.size() == symbols.size()) {
    std::copy(tile.begin(), tile.end(), reinterpret_cast<std::byte*>(symbols.data()));
    return true;
  }
  if (tile.size() > symbols.size() || tile.size() < kRansHeaderBytes || tile.size() % 2 != 0) {
    return false;
  }
  uint32_t states[kRansLanes];
  std::memcpy(states, tile.data(), kRansHeaderBytes);
  WordSource words(tile.subspan(kRansHeaderBytes), table.decode_table(), rans);
  const size_t groups = symbols.size() / kRansGroupSymbols;
  if (!words.decode(states, groups, symbols.data())) return false;
  if (const size_t rest = symbols.size() % kRansGroupSymbols; rest != 0) {
    uint8_t last[kRansGroupSymbols];
    if (!words.decode(states, 1, last)) return false;
    std::memcpy(symbols.data() + groups * kRansGroupSymbols, last, rest);
  }
  return words.at_end() && std::all_of(std::begin(states), std::end(states),
                                       [](uint32_t state) { return state == kRansLowerBound; });
}

}  // namespace hoist::codec
