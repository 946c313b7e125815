// General-purpose compressors behind one small interface: each block is compressed by itself, and
// its raw size is known from elsewhere (a container's block header).
//
//   const Codec& zstd = codec_of(CodecId::zstd);
//   Result<std::vector<std::byte>> stored = zstd.compress(raw, zstd.default_level);
//   Status status = zstd.decompress(*stored, std::span(out));    // out has the raw size
//
// Stored bytes are untrusted: decompress() writes only into `out`, reads only `stored`, allocates
// nothing that grows with what they say, and succeeds only if they yield exactly out.size() bytes
// and are used up; else the answer is `corrupt`, and `out` holds anything. It does not say that the
// bytes are those that were compressed: checksums do.
//
// Codecs are immutable; any number of threads may use them. Each thread keeps zstd's working memory
// for its next call, unless it is more than 64 MiB (levels above 18 on large blocks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::codec {

// As written into files; numbers never change their meaning.
enum class CodecId : uint8_t {
  stored = 0,  // the bytes themselves
  lz4 = 1,     // one LZ4 block (lz4_Block_format.md), no frame
  zstd = 2,    // one Zstandard frame (RFC 8878), no dictionary
};

struct Codec {
  CodecId id;
  std::string_view name;
  // Higher levels are slower and denser. lz4: 1 and 2 fast, from 3 "HC"; zstd: as in its manual.
  int min_level;
  int default_level;
  int max_level;

  // invalid_argument: a level out of range; lz4 takes at most 0x7e000000 bytes.
  Result<std::vector<std::byte>> (*compress)(std::span<const std::byte> raw, int level);
  Status (*decompress)(std::span<const std::byte> stored, std::span<std::byte> out);
};

std::span<const Codec> codecs();
const Codec& codec_of(CodecId id);

// From an untrusted number or a name that a user gave; null where there is none.
const Codec* find_codec(uint8_t id);
const Codec* find_codec(std::string_view name);

}  // namespace hoist::codec
