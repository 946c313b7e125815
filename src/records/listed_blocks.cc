#include "records/listed_blocks.h"

#include <string>

#include "records/file_format.h"

namespace hoist::records {

using container::BlockBytes;
using container::MovedFrame;

bool is_rows(const container::BlockInfo& block) {
  return block.kind == kBlockKind && block.codec == kBlockCodec;
}

bool ListedBlocks::may_have(const MovedFrame& frame) const {
  if (frame.lies_at == frame.offset || !are_all || frame.offset > last_list) return true;
  const auto entry = blocks.find(frame.offset);
  return entry != blocks.end() && entry->second == static_cast<const container::Block&>(frame);
}

Result<ListedBlocks> read_listed_blocks(const container::Source& source,
                                        std::span<const MovedFrame> frames) {
  ListedBlocks listed;
  uint64_t total = 0;
  for (const MovedFrame& frame : frames) {
    if (frame.section != container::Section::commit ||
        frame.stored_size < container::kListHeaderSize) {
      continue;
    }
    const Result<BlockBytes> bytes = read_payload(source, frame);
    if (!bytes) return bytes.error();
    const container::Bytes payload = *bytes;
    const auto list = container::decode_list_header(payload.first<container::kListHeaderSize>());
    if (!list) continue;
    constexpr size_t kEntry = container::kIndexEntrySize;
    container::Bytes entries = payload.subspan(container::kListHeaderSize);
    for (uint64_t i = 0; i < list->entries && entries.size() >= kEntry; ++i) {
      const auto entry = container::decode_index_entry(entries.first<kEntry>());
      entries = entries.subspan(kEntry);
      if (entry && is_rows(*entry)) listed.blocks.emplace(entry->offset, *entry);
    }
    if (frame.offset < listed.last_list) continue;
    listed.last_list = frame.offset;
    total = list->total;
  }
  listed.are_all = listed.last_list > 0 && listed.blocks.size() == total;
  return listed;
}

Result<BlockBytes> read_payload(const container::Source& source, const MovedFrame& frame) {
  BlockBytes bytes = BlockBytes::allocate(frame.stored_size);
  if (bytes.size() != frame.stored_size) {
    return fail(ErrorCode::exhausted,
                "no memory for a block of " + std::to_string(frame.stored_size) + " bytes");
  }
  const Status read = source.read(frame.payload_lies_at(), container::MutableBytes(bytes));
  if (!read) return read.error();
  if (container::checksum(bytes) != frame.payload_checksum) {
    return fail(ErrorCode::corrupt,
                "the file changes while it is read (" + source.name() + "): repair a copy");
  }
  return bytes;
}

}  // namespace hoist::records
