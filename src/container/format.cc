#include "container/format.h"

#include <fmt/core.h>

#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "container/magic.h"

namespace hoist::container {
namespace {

constexpr std::string_view kFrameMagic = "HBLK";
constexpr std::string_view kTrailerMagic = "\x89HOLOEND";

Error corrupt(std::string message) { return fail(ErrorCode::corrupt, std::move(message)); }

template <size_t Size>
std::array<std::byte, Size> to_array(const ByteWriter& out) {
  std::array<std::byte, Size> bytes;
  std::memcpy(bytes.data(), out.bytes().data(), Size);
  return bytes;
}

// The checksum of `bytes` as they read with `offset` in place of the last eight, which hold it.
template <size_t Size>
uint64_t checksum_in_place(std::span<const std::byte, Size> bytes, uint64_t offset) {
  std::array<std::byte, Size> image;
  std::memcpy(image.data(), bytes.data(), Size - sizeof offset);
  std::memcpy(image.data() + Size - sizeof offset, &offset, sizeof offset);
  return checksum(image);
}

template <size_t Size>
bool checksum_holds(std::span<const std::byte, Size> bytes, uint64_t offset) {
  uint64_t stored;
  std::memcpy(&stored, bytes.data() + Size - sizeof stored, sizeof stored);
  return stored == checksum_in_place(bytes, offset);
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Status check_flags(uint16_t flags) {
  if ((flags & ~(kFrontIndex | kDigests)) == 0) return {};
  return fail(ErrorCode::unsupported, fmt::format("flags {:#x} of a newer version", flags));
}

void write_block(const BlockInfo& block, ByteWriter& out) {
  out.write(block.raw_size);
  out.write(block.stored_size);
  out.write(block.kind);
  out.write(block.codec);
  out.write(block.alignment_log2);
  out.write(uint8_t{0});
}

}  // namespace

uint64_t checksum(Bytes bytes) { return xxh3_64(bytes.data(), bytes.size()); }

Status check_block(const BlockInfo& block) {
  if (block.raw_size > kMaxSize || block.stored_size > kMaxSize) {
    return corrupt(fmt::format("sizes {} and {} are beyond the format's limit of 2^60",
                               block.raw_size, block.stored_size));
  }
  if (block.alignment_log2 > kMaxAlignmentLog2) {
    return corrupt(fmt::format("alignment 2^{} is beyond the format's limit of 2^{}",
                               block.alignment_log2, kMaxAlignmentLog2));
  }
  if (block.codec == 0 && block.raw_size != block.stored_size) {
    return corrupt(fmt::format("{} raw bytes are stored as {} without a codec", block.raw_size,
                               block.stored_size));
  }
  return {};
}

std::array<std::byte, kFileHeaderSize> encode_file_header(const FileHeader& header) {
  ByteWriter out;
  out.append(kFileMagic.data(), kFileMagic.size());
  out.write(kVersion);
  out.write(header.flags);
  out.write(header.kind);
  out.write(uint64_t{0});
  out.write(uint64_t{0});
  auto bytes = to_array<kFileHeaderSize>(out);
  const uint64_t check = checksum_in_place(std::span<const std::byte, kFileHeaderSize>(bytes), 0);
  std::memcpy(bytes.data() + kFileHeaderSize - sizeof check, &check, sizeof check);
  return bytes;
}

Result<FileHeader> decode_file_header(std::span<const std::byte, kFileHeaderSize> bytes) {
  if (!starts_with(bytes, kFileMagic))
    return corrupt("not a Hoist container, or its first bytes are damaged");
  ByteReader in(bytes.subspan(kFileMagic.size()));
  const auto version = in.read<uint16_t>();
  FileHeader header;
  header.flags = in.read<uint16_t>();
  header.kind = in.read<uint32_t>();
  if (!checksum_holds(bytes, 0)) return corrupt("the file header is damaged");
  if (version != kVersion) {
    return fail(ErrorCode::unsupported,
                fmt::format("container version {}: this Hoist reads {}", version, kVersion));
  }
  if (Status known = check_flags(header.flags); !known) return known.error();
  if (in.read<uint64_t>() != 0) {
    return fail(ErrorCode::unsupported, "a file header field of a newer version");
  }
  return header;
}

std::string_view frame_magic() { return kFrameMagic; }

std::array<std::byte, kFrameHeaderSize> encode_frame_header(const Frame& frame) {
  ByteWriter out;
  out.append(kFrameMagic.data(), kFrameMagic.size());
  out.write(static_cast<uint32_t>(frame.section));
  out.write(frame.id);
  write_block(frame, out);
  out.write(frame.payload_checksum);
  out.write(uint64_t{0});
  auto bytes = to_array<kFrameHeaderSize>(out);
  const uint64_t check =
      checksum_in_place(std::span<const std::byte, kFrameHeaderSize>(bytes), frame.offset);
  std::memcpy(bytes.data() + kFrameHeaderSize - sizeof check, &check, sizeof check);
  return bytes;
}

Result<Frame> decode_frame_header(std::span<const std::byte, kFrameHeaderSize> bytes,
                                  uint64_t offset) {
  if (offset > kMaxSize) return corrupt("a frame beyond the format's limit");
  if (!starts_with(bytes, kFrameMagic)) return corrupt("no frame header is here");
  if (!checksum_holds(bytes, offset)) return corrupt("the frame header is damaged");
  ByteReader in(bytes.subspan(kFrameMagic.size()));
  Frame frame;
  const auto section = in.read<uint32_t>();
  frame.offset = offset;
  frame.id = in.read<uint64_t>();
  frame.raw_size = in.read<uint64_t>();
  frame.stored_size = in.read<uint64_t>();
  frame.kind = in.read<uint32_t>();
  frame.codec = in.read<uint16_t>();
  frame.alignment_log2 = in.read<uint8_t>();
  const auto reserved = in.read<uint8_t>();
  frame.payload_checksum = in.read<uint64_t>();
  if (section > static_cast<uint32_t>(Section::commit) || reserved != 0) {
    return fail(ErrorCode::unsupported, "a frame of a newer version");
  }
  frame.section = static_cast<Section>(section);
  if (Status keeps = check_block(frame); !keeps) return keeps.error();
  const bool is_plain = frame.kind == 0 && frame.codec == 0 && frame.alignment_log2 == 0 &&
                        (frame.id == 0 || frame.section == Section::commit);
  if (frame.section != Section::block && !is_plain) {
    return corrupt("a frame that is no block has fields of a block");
  }
  return frame;
}

void encode_list_header(const ListHeader& list, std::string& out) {
  ByteWriter bytes;
  bytes.write(list.previous);
  bytes.write(list.total);
  bytes.write(list.entries);
  bytes.write(list.digests);
  bytes.write(list.file.kind);
  bytes.write(list.file.flags);
  bytes.write(uint16_t{0});
  bytes.append(list.root.data(), list.root.size());
  out += bytes.bytes();
}

Result<ListHeader> decode_list_header(std::span<const std::byte, kListHeaderSize> bytes) {
  ByteReader in(bytes);
  ListHeader list;
  list.previous = in.read<uint64_t>();
  list.total = in.read<uint64_t>();
  list.entries = in.read<uint64_t>();
  list.digests = in.read<uint64_t>();
  list.file.kind = in.read<uint32_t>();
  list.file.flags = in.read<uint16_t>();
  const auto reserved = in.read<uint16_t>();
  list.root = in.read<Blake3Digest>();
  if (reserved != 0) return fail(ErrorCode::unsupported, "a list of a newer version");
  if (Status known = check_flags(list.file.flags); !known) return known.error();
  const uint64_t largest = kMaxSize / kIndexEntrySize;
  if (list.previous > kMaxSize || list.total > largest || list.entries > list.total ||
      list.digests > list.total) {
    return corrupt("the list counts more than it can hold");
  }
  return list;
}

void encode_index_entry(const Block& block, std::string& out) {
  ByteWriter bytes;
  bytes.write(block.id);
  bytes.write(block.offset);
  write_block(block, bytes);
  out += bytes.bytes();
}

Result<Block> decode_index_entry(std::span<const std::byte, kIndexEntrySize> bytes) {
  ByteReader in(bytes);
  Block block;
  block.id = in.read<uint64_t>();
  block.offset = in.read<uint64_t>();
  block.raw_size = in.read<uint64_t>();
  block.stored_size = in.read<uint64_t>();
  block.kind = in.read<uint32_t>();
  block.codec = in.read<uint16_t>();
  block.alignment_log2 = in.read<uint8_t>();
  const auto reserved = in.read<uint8_t>();
  if (reserved != 0) return fail(ErrorCode::unsupported, "an index entry of a newer version");
  if (block.offset > kMaxSize) return corrupt("an index entry points beyond the format's limit");
  if (Status keeps = check_block(block); !keeps) return keeps.error();
  return block;
}

void encode_trailer(uint64_t commit_offset, uint64_t offset, std::string& out) {
  ByteWriter bytes;
  bytes.append(kTrailerMagic.data(), kTrailerMagic.size());
  bytes.write(commit_offset);
  bytes.write(uint64_t{0});
  std::array<std::byte, kTrailerSize> image = to_array<kTrailerSize>(bytes);
  const uint64_t check = checksum_in_place(std::span<const std::byte, kTrailerSize>(image), offset);
  std::memcpy(image.data() + kTrailerSize - sizeof check, &check, sizeof check);
  out.append(reinterpret_cast<const char*>(image.data()), image.size());
}

Result<uint64_t> decode_trailer(std::span<const std::byte, kTrailerSize> bytes, uint64_t offset) {
  if (!starts_with(bytes, kTrailerMagic) || !checksum_holds(bytes, offset)) {
    return corrupt("the file does not end in a commit");
  }
  ByteReader in(bytes.subspan(kTrailerMagic.size()));
  const auto commit_offset = in.read<uint64_t>();
  if (commit_offset > kMaxSize || commit_offset >= offset) {
    return corrupt("the trailer points behind itself");
  }
  return commit_offset;
}

}  // namespace hoist::container
