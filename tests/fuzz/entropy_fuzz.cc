// Arbitrary bytes as an entropy table followed by a coded section, or by symbols to be coded: the
// first byte says which (even, odd), two more the size of the table.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/entropy.h"
#include "codec/entropy_tile.h"

namespace {

using namespace hoist::codec;

void check(bool holds) {
  if (!holds) std::abort();
}

// Any table that parses codes any symbols.
void round_trip(const EntropyTable& table, std::span<const uint8_t> symbols) {
  const auto coded = entropy_encode(symbols, table, kMinTileSymbols);
  check(coded.has_value());
  const auto view = EntropyView::parse(*coded);
  check(view.has_value() && view->symbols() == symbols.size());
  std::vector<uint8_t> decoded(symbols.size());
  check(entropy_decode(*view, table, decoded).has_value());
  check(std::equal(symbols.begin(), symbols.end(), decoded.begin()));
}

// Whatever the bytes, every implementation gives the same verdict and the same symbols.
void decode(const EntropyTable& table, std::span<const std::byte> section) {
  const auto view = EntropyView::parse(section);
  if (!view) return;
  for (const EntropyTile& tile : view->tiles()) {
    std::vector<uint8_t> expected(tile.symbols);
    const bool good = decode_tile(view->bytes(tile), table, expected, kRansPortable);
    for (const RansImplementation* rans : rans_implementations()) {
      if (!rans->supported()) continue;
      std::vector<uint8_t> symbols(tile.symbols);
      check(decode_tile(view->bytes(tile), table, symbols, *rans) == good);
      check(!good || symbols == expected);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::span<const uint8_t> rest(data + 3, size - 3);
  const size_t table_size = std::min<size_t>(rest.size(), data[1] | data[2] << 8);
  const auto table = EntropyTable::parse(std::as_bytes(rest.first(table_size)));
  if (!table) return 0;
  if (data[0] % 2 != 0) {
    round_trip(*table, rest.subspan(table_size));
  } else {
    decode(*table, std::as_bytes(rest.subspan(table_size)));
  }
  return 0;
}
