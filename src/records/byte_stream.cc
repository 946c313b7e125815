#include "records/byte_stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/varint.h"
#include "codec/entropy.h"
#include "codec/general.h"
#include "codec/mixing.h"

namespace hoist::records {
namespace {

// Below, tables and states take more than they save.
constexpr size_t kEntropyBytes = 256;
constexpr size_t kZstdBytes = 24;

// About what tables and states take.
constexpr double kTableBytes = 128;

constexpr int kUsualLevel = 8;
constexpr int kBestLevel = 22;

Error damaged() { return fail(ErrorCode::corrupt, "a stream of bytes in the block is damaged"); }

std::array<uint64_t, 256> count(std::span<const uint8_t> bytes) {
  // Four tables: equal neighbours need not wait for one another.
  std::array<std::array<uint32_t, 256>, 4> parts{};
  for (size_t i = 0; i < bytes.size(); ++i) ++parts[i % 4][bytes[i]];
  std::array<uint64_t, 256> counts;
  for (size_t v = 0; v < 256; ++v) {
    counts[v] = uint64_t{parts[0][v]} + parts[1][v] + parts[2][v] + parts[3][v];
  }
  return counts;
}

double entropy_size(const std::array<uint64_t, 256>& counts, size_t total) {
  double bits = 0;
  size_t used = 0;
  for (const uint64_t n : counts) {
    if (n == 0) continue;
    bits -= static_cast<double>(n) * std::log2(static_cast<double>(n) / static_cast<double>(total));
    ++used;
  }
  return bits / 8 + kTableBytes + 2 * static_cast<double>(used);
}

void append(std::string& out, std::span<const std::byte> bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Replaces `best` where it is smaller.
void try_entropy(std::span<const uint8_t> bytes, const std::array<uint64_t, 256>& counts,
                 std::string& best) {
  const Result<codec::EntropyTable> table = codec::EntropyTable::build(counts);
  if (!table) return;
  const auto coded = codec::entropy_encode(bytes, *table);
  if (!coded) return;
  const std::string table_bytes = table->serialise();
  std::string stream(1, static_cast<char>(ByteMethod::entropy));
  write_varint(stream, table_bytes.size());
  stream += table_bytes;
  append(stream, *coded);
  if (stream.size() < best.size()) best = std::move(stream);
}

void try_zstd(std::span<const uint8_t> bytes, int level, std::string& best) {
  const auto coded = codec::codec_of(codec::CodecId::zstd).compress(std::as_bytes(bytes), level);
  if (!coded || coded->size() + 1 >= best.size()) return;
  best.assign(1, static_cast<char>(ByteMethod::zstd));
  append(best, *coded);
}

// Whether a stretch in the middle shows that bytes repeat in longer pieces than entropy coding
// sees.
bool may_repeat(std::span<const uint8_t> bytes) {
  constexpr size_t kStretch = size_t{1} << 14;
  if (bytes.size() < 2 * kStretch) return true;
  const std::span<const uint8_t> stretch = bytes.subspan(bytes.size() / 2, kStretch);
  const auto coded = codec::codec_of(codec::CodecId::zstd).compress(std::as_bytes(stretch), 3);
  const double entropy = entropy_size(count(stretch), kStretch) - kTableBytes;
  return coded && static_cast<double>(coded->size()) * 1.02 < entropy;
}

Status decode_entropy(std::span<const std::byte> stream, std::span<uint8_t> out) {
  ByteReader in(stream);
  const std::span<const std::byte> table_bytes = in.take(read_varint(in));
  if (!in.ok()) return damaged();
  const auto table = codec::EntropyTable::parse(table_bytes);
  if (!table) return table.error();
  const auto view = codec::EntropyView::parse(in.take(in.remaining()));
  if (!view) return view.error();
  if (view->symbols() != out.size()) return damaged();
  return codec::entropy_decode(*view, *table, out);
}

}  // namespace

void encode_bytes(std::span<const uint8_t> bytes, Effort effort, std::string& out) {
  std::string best(1, static_cast<char>(ByteMethod::stored));
  best.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() > 1 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0) {
    out.push_back(static_cast<char>(ByteMethod::constant));
    out.push_back(static_cast<char>(bytes[0]));
    return;
  }
  if (bytes.size() >= kEntropyBytes) {
    const std::array<uint64_t, 256> counts = count(bytes);
    if (entropy_size(counts, bytes.size()) < static_cast<double>(bytes.size())) {
      try_entropy(bytes, counts, best);
    }
  }
  if (bytes.size() >= kZstdBytes && (effort == Effort::best || may_repeat(bytes)))
    try_zstd(bytes, effort == Effort::best ? kBestLevel : kUsualLevel, best);
  out += best;
}

void mix_small_text(std::span<const uint8_t> text, std::string& stream) {
  if (text.size() > codec::kMaxMixedBytes) return;
  // What decodes slowly must be worth it.
  const std::string mixed = codec::mix_bytes(text);
  if ((mixed.size() + 1) * 16 >= stream.size() * 15) return;
  stream.assign(1, static_cast<char>(ByteMethod::mixed));
  stream += mixed;
}

Status decode_text_bytes(std::span<const std::byte> stream, std::span<uint8_t> out) {
  if (stream.empty() || static_cast<ByteMethod>(stream[0]) != ByteMethod::mixed) {
    return decode_bytes(stream, out);
  }
  return codec::unmix_bytes(stream.subspan(1), out);
}

Status decode_bytes(std::span<const std::byte> stream, std::span<uint8_t> out) {
  if (stream.empty()) return damaged();
  const auto method = static_cast<ByteMethod>(stream[0]);
  stream = stream.subspan(1);
  switch (method) {
    case ByteMethod::stored:
      if (stream.size() != out.size()) return damaged();
      if (!out.empty()) std::memcpy(out.data(), stream.data(), out.size());
      return {};
    case ByteMethod::constant:
      if (stream.size() != 1) return damaged();
      std::fill(out.begin(), out.end(), static_cast<uint8_t>(stream[0]));
      return {};
    case ByteMethod::zstd:
      return codec::codec_of(codec::CodecId::zstd).decompress(stream, std::as_writable_bytes(out));
    case ByteMethod::entropy:
      return decode_entropy(stream, out);
    default:
      return fail(ErrorCode::unsupported,
                  "a stream of bytes has an unknown method: this version of Hoist is too old");
  }
}

}  // namespace hoist::records
