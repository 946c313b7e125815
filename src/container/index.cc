#include "container/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "container/frames.h"

namespace hoist::container {
namespace {

Error corrupt(std::string message) { return fail(ErrorCode::corrupt, std::move(message)); }

struct RawList {
  ListHeader header;
  Frame frame;
  std::string payload;

  Bytes entries() const {
    return as_bytes(payload).subspan(kListHeaderSize, header.entries * kIndexEntrySize);
  }
  Bytes digests() const {
    return as_bytes(payload).subspan(kListHeaderSize + header.entries * kIndexEntrySize,
                                     header.digests * kDigestSize);
  }
};

Result<RawList> read_list(const Source& source, const FileHeader& file, const Frame& frame,
                          uint64_t limit) {
  const size_t trailer = frame.section == Section::commit ? kTrailerSize : 0;
  if (frame.section != Section::commit && frame.section != Section::index) {
    return corrupt("no list of blocks is where one should be");
  }
  if (frame.stored_size > limit) {
    return fail(ErrorCode::exhausted,
                fmt::format("the index ({}) is larger than the limit: open it with a higher one",
                            source.name()));
  }
  if (frame.stored_size < kListHeaderSize + trailer) {
    return corrupt("a list of blocks has another shape");
  }
  RawList list{{}, frame, std::string(frame.stored_size, '\0')};
  const MutableBytes into = std::as_writable_bytes(std::span(list.payload));
  if (Status read = source.read(frame.payload_offset(), into); !read) {
    return read.error();
  }
  if (checksum(into) != frame.payload_checksum) return corrupt("a list of blocks is damaged");
  Result<ListHeader> header = decode_list_header(Bytes(into).first<kListHeaderSize>());
  if (!header) return header.error();
  // The counts are small enough (decode_list_header) for this not to overflow.
  const uint64_t needed =
      kListHeaderSize + header->entries * kIndexEntrySize + header->digests * kDigestSize + trailer;
  if (needed != frame.stored_size) return corrupt("a list of blocks has another length");
  if (header->file.kind != file.kind || header->file.flags != file.flags) {
    return corrupt("a list of blocks disagrees with the file header");
  }
  if (frame.section == Section::commit && frame.id != header->total) {
    return corrupt("a commit disagrees with its header");
  }
  list.header = *header;
  return list;
}

// Appends the list's blocks to those before it.
Status append_entries(const RawList& list, std::vector<Block>& blocks) {
  const Bytes bytes = list.entries();
  for (size_t i = 0; i < list.header.entries; ++i) {
    Result<Block> block =
        decode_index_entry(bytes.subspan(i * kIndexEntrySize).first<kIndexEntrySize>());
    if (!block) return block.error();
    const uint64_t from = blocks.empty() ? kFileHeaderSize + kFrameHeaderSize : blocks.back().end();
    if (block->offset < from) return corrupt("the index lists overlapping blocks");
    blocks.push_back(*block);
  }
  return {};
}

// The chain, last list first.
Result<std::vector<RawList>> read_chain(const Source& source, const FileHeader& header,
                                        uint64_t offset, uint64_t limit) {
  std::vector<RawList> chain;
  FrameWalker walker(source);
  uint64_t before = source.size();  // where the list must end
  while (true) {
    Result<Frame> frame = walker.at(offset);
    if (!frame) return frame.error();
    if (frame->end() > before) return corrupt("two lists of blocks overlap");
    Result<RawList> list = read_list(source, header, *frame, limit);
    if (!list) return list.error();
    limit -= frame->stored_size;
    chain.push_back(std::move(*list));
    const uint64_t previous = chain.back().header.previous;
    if (previous == 0) return chain;
    if (chain.size() == kMaxLists) return corrupt("the chain of lists is too long");
    if (previous >= offset) return corrupt("the chain of lists runs backwards");
    before = offset;
    offset = previous;
  }
}

}  // namespace

Result<Index> load_index(const Source& source, const FileHeader& header, uint64_t offset,
                         const Limits& limits) {
  Result<std::vector<RawList>> chain = read_chain(source, header, offset, limits.index);
  if (!chain) return chain.error();
  Index index;
  size_t blocks = 0;
  size_t digests = 0;
  for (const RawList& list : *chain) {
    blocks += list.header.entries;
    digests += list.header.digests;
  }
  index.blocks.reserve(blocks);
  index.digests.reserve(digests);
  index.lists.reserve(chain->size());
  for (; !chain->empty(); chain->pop_back()) {
    const RawList& list = chain->back();
    if (Status appended = append_entries(list, index.blocks); !appended) {
      return appended.error();
    }
    if (list.header.total != index.blocks.size()) {
      return corrupt("the index lists another number of blocks than it says");
    }
    const size_t had = index.digests.size();
    index.digests.resize(had + list.header.digests);
    if (!list.digests().empty()) {
      std::memcpy(&index.digests[had], list.digests().data(), list.digests().size());
    }
    index.lists.push_back({list.frame.offset, list.header.entries, list.header.digests});
    index.root = list.header.root;
  }
  if (!index.blocks.empty() && index.blocks.back().end() > offset) {
    return corrupt("the index lists a block behind itself");
  }
  if (index.digests.size() != ((header.flags & kDigests) != 0 ? blocks : 0)) {
    return corrupt("the index has another number of digests than of blocks");
  }
  return index;
}

Result<std::vector<Block>> load_front_index(const Source& source, const FileHeader& header,
                                            const Frame& frame, const Limits& limits) {
  if (frame.section != Section::index) return corrupt("no index is where one should be");
  Result<RawList> list = read_list(source, header, frame, limits.index);
  if (!list) return list.error();
  if (list->header.previous != 0) return corrupt("a list lies before the first");
  std::vector<Block> blocks;
  blocks.reserve(list->header.entries);
  if (Status appended = append_entries(*list, blocks); !appended) {
    return appended.error();
  }
  return blocks;
}

Result<uint64_t> find_last_commit(const Source& source) {
  const uint64_t size = source.size();
  if (size < kTrailerSize) return corrupt("the file does not end in a commit");
  std::array<std::byte, kTrailerSize> bytes;
  if (Status read = source.read(size - kTrailerSize, MutableBytes(bytes)); !read) {
    return read.error();
  }
  return decode_trailer(bytes, size - kTrailerSize);
}

namespace {

Result<bool> has_trailer_behind(const Source& source, uint64_t offset) {
  std::vector<std::byte> chunk(size_t{256} << 10);
  const uint64_t size = source.size();
  while (offset < size && size - offset >= kTrailerSize) {
    const auto length = static_cast<size_t>(std::min<uint64_t>(chunk.size(), size - offset));
    if (Status read = source.read(offset, MutableBytes(chunk).first(length)); !read) {
      return read.error();
    }
    for (size_t at = 0; at + kTrailerSize <= length; ++at) {
      const void* hit = std::memchr(&chunk[at], 0x89, length - kTrailerSize + 1 - at);
      if (hit == nullptr) break;
      at = static_cast<size_t>(static_cast<const std::byte*>(hit) - chunk.data());
      const Bytes bytes(&chunk[at], kTrailerSize);
      if (decode_trailer(bytes.first<kTrailerSize>(), offset + at)) return true;
    }
    offset += length - (kTrailerSize - 1);
  }
  return false;
}

Result<bool> has_commit_header_behind(const Source& source, uint64_t offset) {
  FrameWalker walker(source);
  while (true) {
    Result<std::optional<Frame>> frame = walker.find(offset);
    if (!frame) return frame.error();
    if (!*frame) return false;
    if ((*frame)->section == Section::commit) return true;
    offset = (*frame)->end();
  }
}

}  // namespace

// Either end of the commit may be what is damaged.
Result<bool> has_commit_behind(const Source& source, uint64_t offset) {
  Result<bool> trailer = has_trailer_behind(source, offset);
  return !trailer || *trailer ? trailer : has_commit_header_behind(source, offset);
}

std::string encode_list(ListHeader list, std::span<const Block> entries,
                        std::span<const Blake3Digest> digests) {
  list.entries = entries.size();
  list.digests = digests.size();
  std::string payload;
  payload.reserve(kListHeaderSize + entries.size() * kIndexEntrySize + digests.size_bytes() +
                  kTrailerSize);
  encode_list_header(list, payload);
  for (const Block& block : entries) encode_index_entry(block, payload);
  payload.append(reinterpret_cast<const char*>(digests.data()), digests.size_bytes());
  return payload;
}

size_t lists_to_merge(std::span<const ListPlace> lists, uint64_t entries) {
  size_t merged = 0;
  while (merged < lists.size()) {
    const ListPlace& list = lists[lists.size() - 1 - merged];
    if (list.entries > 2 * entries) break;
    entries += list.entries;
    ++merged;
  }
  return merged;
}

}  // namespace hoist::container
