#include "match/store/table_scan.h"

#include <lz4.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "match/store/crc32c.h"
#include "match/store/stored_pattern.h"

namespace hoist::match {
namespace {

constexpr size_t kTrailer = 5;
constexpr uint8_t kPlain = 0;
constexpr uint8_t kLz4 = 4;
constexpr size_t kMostBytes = size_t{64} << 20;
// Blocks are longer than 4 KiB only where one value is. So far a block is sought from a byte at
// which perhaps none begins.
constexpr size_t kUsualBytes = size_t{32} << 10;

struct Block {
  std::string_view stored;
  uint8_t compression;
};

// The block that begins at the front, of at most `most` bytes.
std::optional<Block> block_of(std::string_view bytes, size_t most) {
  uint32_t crc = 0;
  for (size_t size = 0; size + kTrailer <= bytes.size() && size <= most; ++size) {
    const auto compression = static_cast<uint8_t>(bytes[size]);
    const uint32_t next = crc32c(bytes.substr(size, 1), crc);
    if (size >= 8 && (compression == kPlain || compression == kLz4) &&
        masked(next) == ByteReader(bytes.data() + size + 1, 4).read<uint32_t>()) {
      return Block{bytes.substr(0, size), compression};
    }
    crc = next;
  }
  return std::nullopt;
}

// Whether a block of our keys can begin here; most bytes are told so without their CRC. The first
// entry shares nothing, and its key has 1 to 9 bytes and a number of 8. Compressed, these two sizes
// are the first literals.
bool may_begin(std::string_view bytes) {
  const auto begins_entries = [](std::string_view entry) {
    return entry.size() > 2 && entry[0] == 0 && entry[1] > 8 && entry[1] <= 17;
  };
  if (begins_entries(bytes)) return true;
  Decoder decoder(bytes.substr(0, 64));
  const uint64_t size = decoder.varint();
  if (!decoder.ok() || size < 8 || size > kMostBytes) return false;
  const std::string_view token = decoder.take(1);
  if (!decoder.ok()) return false;
  bool has_more = static_cast<uint8_t>(token[0]) >> 4 == 15;
  while (has_more && decoder.remaining() > 0) {
    has_more = static_cast<uint8_t>(decoder.take(1)[0]) == 255;
  }
  return begins_entries(decoder.take(decoder.remaining()));
}

// False where it is no such block.
bool decompress(const Block& block, std::string& out) {
  if (block.compression == kPlain) {
    out.assign(block.stored);
    return true;
  }
  Decoder decoder(block.stored);
  const uint64_t size = decoder.varint();
  // LZ4 makes at most 255 bytes of one.
  if (!decoder.ok() || size > kMostBytes || size / 255 > block.stored.size()) return false;
  const std::string_view packed = block.stored.substr(block.stored.size() - decoder.remaining());
  out.resize(size);
  const int made = LZ4_decompress_safe(packed.data(), out.data(), static_cast<int>(packed.size()),
                                       static_cast<int>(size));
  return made >= 0 && static_cast<uint64_t>(made) == size;
}

// Entries share the beginning of their keys with the one before; behind them stand the places of
// those that do not, and how many these are. False, and nothing taken, where they are none.
bool read_entries(std::string_view block, const std::function<void(const TableEntry&)>& take) {
  if (block.size() < 2 * sizeof(uint32_t)) return false;
  const uint64_t restarts = ByteReader(block.data() + block.size() - 4, 4).read<uint32_t>();
  if (restarts == 0 || (restarts + 1) * 4 > block.size()) return false;
  struct Found {
    std::string key;
    std::string_view value;
  };
  std::vector<Found> all;
  Decoder decoder(block.substr(0, block.size() - (restarts + 1) * 4));
  std::string key;
  while (decoder.ok() && decoder.remaining() > 0) {
    const uint64_t shared = decoder.varint();
    const uint64_t own = decoder.varint();
    const uint64_t value_size = decoder.varint();
    if (!decoder.ok() || shared > key.size() || own > decoder.remaining()) return false;
    key.resize(shared);
    key.append(decoder.take(own));
    if (value_size > decoder.remaining() || key.size() < sizeof(uint64_t)) return false;
    all.push_back({key, decoder.take(value_size)});
  }
  if (!decoder.ok()) return false;
  for (const Found& found : all) {
    const size_t size = found.key.size() - sizeof(uint64_t);
    const auto tag = ByteReader(found.key.data() + size, 8).read<uint64_t>();
    if ((tag & 0xff) > 1) continue;  // neither a removal nor a value
    take({std::string_view(found.key).substr(0, size), tag >> 8, (tag & 0xff) == 0, found.value});
  }
  return true;
}

}  // namespace

void scan_table(std::string_view bytes, const std::function<void(const TableEntry&)>& take) {
  std::string block;
  bool is_at_block = true;
  for (size_t at = 0; at < bytes.size();) {
    if (!is_at_block && !may_begin(bytes.substr(at))) {
      ++at;
      continue;
    }
    const auto found = block_of(bytes.substr(at), is_at_block ? kMostBytes : kUsualBytes);
    // Behind damage the checksum alone may agree by chance.
    const bool has_entries = found && decompress(*found, block) && read_entries(block, take);
    if (has_entries || (found && is_at_block)) {
      at += found->stored.size() + kTrailer;
      is_at_block = true;
    } else {
      ++at;
      is_at_block = false;
    }
  }
}

}  // namespace hoist::match
