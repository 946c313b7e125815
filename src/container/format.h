// The byte layout of Hoist's block container, version 0 (docs/reference/container.md shows it byte
// by byte). Everything is little-endian; sizes and offsets are 64 bits wide and count bytes.
//
//   file   = file header (32), metadata frame, [index frame], { block frame | commit frame }
//   frame  = frame header (56), zero padding up to the payload's alignment, payload
//
// Frames follow one another without gaps, so that a walk from the front finds all of them. A frame
// header is checked by XXH3-64 over its fields *and its own offset*: the headers of a container
// that is stored inside a block are no headers of the outer one.
//
// A commit frame ends each session of writing. It lists blocks, points to the previous list, and
// its payload ends in a trailer that points back to its own header: a reader that knows the end of
// the file knows its index. A file is never changed below its last commit.
//
// Encoding never fails. Decoding takes untrusted bytes: `corrupt` where a check, a bound or a rule
// is broken, `unsupported` where a newer version would say more. Offsets and sizes that decoding
// lets through are at most kMaxSize, so that sums of a few of them cannot overflow.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/blake3.h"
#include "base/result.h"

namespace hoist::container {

static_assert(std::endian::native == std::endian::little, "the layout is written as it lies");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline constexpr uint16_t kVersion = 0;
inline constexpr size_t kFileHeaderSize = 32;
inline constexpr size_t kFrameHeaderSize = 56;
inline constexpr size_t kListHeaderSize = 72;
inline constexpr size_t kIndexEntrySize = 40;
inline constexpr size_t kDigestSize = 32;
inline constexpr size_t kTrailerSize = 24;
inline constexpr uint64_t kMaxSize = uint64_t{1} << 60;
inline constexpr uint8_t kMaxAlignmentLog2 = 12;  // 4 KiB: a page, and a block of an SSD

// What the file holds, for whoever opens it; the container itself does not look at it.
constexpr uint32_t four_letters(const char (&text)[5]) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(text[i]);
  return value;
}

// File header flags. A reader refuses flags that it does not know.
inline constexpr uint16_t kFrontIndex = 1;  // an index frame follows the metadata
inline constexpr uint16_t kDigests = 2;     // commits carry BLAKE3 digests and a root

struct FileHeader {
  uint32_t kind = 0;
  uint16_t flags = 0;
};

enum class Section : uint8_t { block = 0, metadata = 1, index = 2, commit = 3 };

// What is known of a block before its bytes are. `kind` means what the file's kind says it means;
// `codec` is a number of container/codec_numbers.h, and 0 demands that both sizes are equal.
struct BlockInfo {
  uint64_t id = 0;
  uint64_t raw_size = 0;     // decoded
  uint64_t stored_size = 0;  // in the file
  uint32_t kind = 0;
  uint16_t codec = 0;
  uint8_t alignment_log2 = 0;  // the payload starts at a multiple of 1 << alignment_log2

  friend bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

// A frame in its place.
struct Block : BlockInfo {
  uint64_t offset = 0;  // of the frame header

  uint64_t payload_offset() const {
    const uint64_t mask = (uint64_t{1} << alignment_log2) - 1;
    return (offset + kFrameHeaderSize + mask) & ~mask;
  }
  uint64_t end() const { return payload_offset() + stored_size; }

  friend bool operator==(const Block&, const Block&) = default;
};

// In a metadata, index or commit frame `id`, `kind` and `codec` are 0, except that the id of a
// commit is the number of blocks before it.
struct Frame : Block {
  Section section = Section::block;
  uint64_t payload_checksum = 0;  // XXH3-64 of the stored bytes
};

// Payload of index and commit frames: a list header, `entries` index entries, `digests` BLAKE3
// digests, and in a commit the trailer. Entries and digests are those that the lists before this
// one
// (`previous`, and so on until 0) do not hold, in the order of the file.
struct ListHeader {
  uint64_t previous = 0;  // offset of the frame with the list before this one
  uint64_t total = 0;     // blocks up to here
  uint64_t entries = 0;
  uint64_t digests = 0;
  FileHeader file = {};  // for repair, should the file header be lost
  Blake3Digest root{};
};

uint64_t checksum(Bytes bytes);

std::array<std::byte, kFileHeaderSize> encode_file_header(const FileHeader& header);
Result<FileHeader> decode_file_header(std::span<const std::byte, kFileHeaderSize> bytes);

std::array<std::byte, kFrameHeaderSize> encode_frame_header(const Frame& frame);
// `offset` is where the bytes lie.
Result<Frame> decode_frame_header(std::span<const std::byte, kFrameHeaderSize> bytes,
                                  uint64_t offset);
// The first bytes of every frame header: what a search for one begins with.
std::string_view frame_magic();

void encode_list_header(const ListHeader& list, std::string& out);
Result<ListHeader> decode_list_header(std::span<const std::byte, kListHeaderSize> bytes);
void encode_index_entry(const Block& block, std::string& out);
Result<Block> decode_index_entry(std::span<const std::byte, kIndexEntrySize> bytes);

// `offset` is where the trailer lies.
void encode_trailer(uint64_t commit_offset, uint64_t offset, std::string& out);
// The offset of the commit frame that the trailer ends.
Result<uint64_t> decode_trailer(std::span<const std::byte, kTrailerSize> bytes, uint64_t offset);

// Whether the block's fields keep the rules above; the message says which one is broken.
Status check_block(const BlockInfo& block);

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace hoist::container
