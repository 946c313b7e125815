#include "match/store/crc32c.h"

#include <array>

#include "base/bytes.h"

namespace hoist::match {
namespace {

// tables[k][b]: of byte b and k zeros behind it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0x82F63B78u : 0);
    tables[0][i] = value;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[k - 1][i];
      tables[k][i] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t next = ByteReader(bytes.data() + at, 8).read<uint64_t>() ^ crc;
    crc = 0;
    for (size_t k = kTables.size(); k-- > 0; next >>= 8) crc ^= kTables[k][next & 0xff];
  }
  for (; at < bytes.size(); ++at) {
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(bytes[at])) & 0xff];
  }
  return ~crc;
}

}  // namespace hoist::match
