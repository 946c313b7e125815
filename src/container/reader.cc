#include "container/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "container/digest.h"
#include "container/foreign.h"
#include "container/frames.h"

namespace hoist::container {
namespace {

// Adds the place and the mend to what a decoder says of untrusted bytes.
Error placed(const Error& error, const Source& source, uint64_t offset) {
  const char* mend = error.code == ErrorCode::unsupported
                         ? "a newer Hoist can read it"
                         : "get it again or try `hoist container repair`";
  return fail(error.code,
              fmt::format("{} ({} at {}): {}", error.message, source.name(), offset, mend),
              error.system_errno);
}

// Callers may hand in a block of another reader, or of their own.
Status check_place(const Block& block, uint64_t size) {
  if (check_block(block) && block.offset <= kMaxSize && block.end() <= size) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("block {} does not lie within the file: get it again", block.id));
}

// Frames from `offset` on until the first that is none.
struct Scan {
  std::vector<Block> blocks;
  std::optional<Frame> commit;  // the last
};

Result<Scan> scan(const Source& source, std::vector<Block> blocks, uint64_t offset,
                  const Limits& limits) {
  Scan found;
  found.blocks = std::move(blocks);
  size_t committed = 0;
  FrameWalker walker(source);
  while (true) {
    Result<Frame> frame = walker.at(offset);
    if (!frame && frame.error().code == ErrorCode::io) return frame.error();
    if (!frame) break;
    if (frame->section == Section::block) {
      if (found.blocks.size() >= limits.index / kIndexEntrySize) {
        return fail(ErrorCode::exhausted,
                    fmt::format("more blocks ({}) than the limit for the index allows: open it "
                                "with a higher one",
                                source.name()));
      }
      found.blocks.push_back(*frame);
    } else if (frame->section == Section::commit) {
      // Its header is the point of commit: the blocks before it were durable when it was written,
      // so what is damaged behind it can be rebuilt.
      if (frame->id != found.blocks.size()) break;
      committed = found.blocks.size();
      found.commit = *frame;
    } else {
      break;
    }
    offset = frame->end();
  }
  if (found.commit) found.blocks.resize(committed);
  return found;
}

}  // namespace

BlockBytes BlockBytes::allocate(uint64_t size) {
  BlockBytes bytes;
  if (size > std::numeric_limits<size_t>::max() / 2) return bytes;
  bytes.bytes_.reset(new (std::nothrow) std::byte[size]);
  if (bytes.bytes_ != nullptr) bytes.size_ = static_cast<size_t>(size);
  return bytes;
}

Result<Reader> Reader::open(const std::string& path, const ReaderOptions& options) {
  Result<std::unique_ptr<Source>> source = open_file_source(path);
  if (!source) return source.error();
  return open(std::move(*source), options);
}

Result<Reader> Reader::open(std::unique_ptr<Source> source, const ReaderOptions& options) {
  Reader reader(std::move(source));
  try {
    if (Status loaded = reader.load(options); !loaded) return loaded.error();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted,
                fmt::format("no memory for the index ({})", reader.source_->name()));
  }
  return reader;
}

Status Reader::load(const ReaderOptions& options) {
  block_limit_ = options.limits.block;
  if (Status head = load_head(options.limits); !head) return head;
  Result<uint64_t> commit = find_last_commit(*source_);
  Result<Index> index =
      commit ? load_index(*source_, header_, *commit, options.limits) : commit.error();
  if (index) {
    index_ = std::move(*index);
    state_ = IndexState::committed;
    committed_end_ = source_->size();
  } else if (index.error().code != ErrorCode::corrupt) {
    return index.error();
  } else if (options.root) {
    return placed(index.error(), *source_, source_->size());
  } else if (Status rebuilt = rebuild(options.limits); !rebuilt) {
    return rebuilt;
  }
  if (index_.blocks.size() > std::numeric_limits<uint32_t>::max()) {
    return fail(ErrorCode::exhausted, fmt::format("more than 2^32 blocks ({})", source_->name()));
  }
  sort_ids();
  return options.root ? check_root(*options.root) : Status();
}

Status Reader::load_head(const Limits& limits) {
  std::array<std::byte, kFileHeaderSize> bytes;
  const Result<bool> foreign = is_foreign(*source_);
  if (!foreign) return foreign.error();
  if (*foreign) return not_a_container(*source_);
  if (source_->size() < kFileHeaderSize) {
    return placed({ErrorCode::corrupt, "the file is cut off in its header"}, *source_, 0);
  }
  if (Status read = source_->read(0, MutableBytes(bytes)); !read) return read;
  Result<FileHeader> header = decode_file_header(bytes);
  if (!header) return placed(header.error(), *source_, 0);
  header_ = *header;

  Result<Frame> frame = FrameWalker(*source_).at(kFileHeaderSize);
  if (!frame) return placed(frame.error(), *source_, kFileHeaderSize);
  if (frame->section != Section::metadata) {
    return placed({ErrorCode::corrupt, "no metadata is where it should be"}, *source_,
                  kFileHeaderSize);
  }
  if (frame->stored_size > limits.metadata) {
    return fail(ErrorCode::exhausted, fmt::format("the metadata ({}) is larger than the limit: "
                                                  "open it with a higher one",
                                                  source_->name()));
  }
  metadata_ = BlockBytes::allocate(frame->stored_size);
  if (metadata_.size() != frame->stored_size) {
    return fail(ErrorCode::exhausted, "no memory for the metadata");
  }
  if (Status read = source_->read(frame->payload_offset(), MutableBytes(metadata_)); !read) {
    return read;
  }
  if (checksum(metadata_) != frame->payload_checksum) {
    return placed({ErrorCode::corrupt, "the metadata is damaged"}, *source_, kFileHeaderSize);
  }
  metadata_frame_ = *frame;
  return {};
}

// Without an index at the end: the one at the front, and a walk over the frames behind it.
Status Reader::rebuild(const Limits& limits) {
  std::vector<Block> blocks;
  uint64_t offset = metadata_frame_.end();
  if ((header_.flags & kFrontIndex) != 0) {
    Result<Frame> frame = FrameWalker(*source_).at(offset);
    Result<std::vector<Block>> front =
        frame ? load_front_index(*source_, header_, *frame, limits) : frame.error();
    if (front) {
      const auto cut = std::find_if(front->begin(), front->end(), [&](const Block& block) {
        return block.end() > source_->size();
      });
      offset = cut != front->end() ? source_->size()
               : front->empty()    ? frame->end()
                                   : front->back().end();
      front->erase(cut, front->end());
      blocks = std::move(*front);
    } else if (front.error().code != ErrorCode::corrupt) {
      return front.error();
    } else if (frame) {
      offset = frame->end();
    }
  }
  Result<Scan> found = scan(*source_, std::move(blocks), offset, limits);
  if (!found) return found.error();
  index_.blocks = std::move(found->blocks);
  state_ = found->commit ? IndexState::recovered : IndexState::uncommitted;
  if (!found->commit) return {};
  committed_end_ = found->commit->end();
  // Its list, for the digests and for who appends; blocks are as they were found.
  if (auto index = load_index(*source_, header_, found->commit->offset, limits)) {
    index->blocks = std::move(index_.blocks);
    index_ = std::move(*index);
  }
  return {};
}

Status Reader::check_root(const Blake3Digest& root) {
  if ((header_.flags & kDigests) == 0) {
    return fail(ErrorCode::corrupt, fmt::format("the container has no digests ({}): it cannot be "
                                                "checked against a root",
                                                source_->name()));
  }
  RootDigest computed(header_, digest_of(metadata_frame_, metadata_));
  computed.add(index_.digests);
  if (computed.finish() != root) {
    return fail(ErrorCode::corrupt,
                fmt::format("the container has another root digest ({}): it is not the one that "
                            "was asked for",
                            source_->name()));
  }
  check_digests_ = true;
  return {};
}

void Reader::sort_ids() {
  const std::vector<Block>& blocks = index_.blocks;
  const auto less = [](const Block& a, const Block& b) { return a.id < b.id; };
  if (std::is_sorted(blocks.begin(), blocks.end(), less)) return;
  by_id_.resize(blocks.size());
  std::iota(by_id_.begin(), by_id_.end(), uint32_t{0});
  std::sort(by_id_.begin(), by_id_.end(), [&](uint32_t a, uint32_t b) {
    return blocks[a].id != blocks[b].id ? blocks[a].id < blocks[b].id : a < b;
  });
}

const Block* Reader::find(uint64_t id) const {
  const std::vector<Block>& blocks = index_.blocks;
  if (by_id_.empty()) {
    const auto at = std::lower_bound(blocks.begin(), blocks.end(), id,
                                     [](const Block& block, uint64_t id) { return block.id < id; });
    return at != blocks.end() && at->id == id ? &*at : nullptr;
  }
  const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                   [&](uint32_t i, uint64_t id) { return blocks[i].id < id; });
  return at != by_id_.end() && blocks[*at].id == id ? &blocks[*at] : nullptr;
}

Error Reader::damaged(const Block& block, std::string_view what) const {
  return {ErrorCode::corrupt, fmt::format("block {}: {} ({} at {}): get it again or try "
                                          "`hoist container repair`",
                                          block.id, what, source_->name(), block.offset)};
}

Status Reader::check_head(const Block& block, Bytes head, Frame& frame) const {
  Result<Frame> decoded = decode_frame_header(head.first<kFrameHeaderSize>(), block.offset);
  if (!decoded) return damaged(block, decoded.error().message);
  if (decoded->section != Section::block || static_cast<const Block&>(*decoded) != block) {
    return damaged(block, "its header disagrees with the index");
  }
  if (!is_zero(head.subspan(kFrameHeaderSize))) {
    return damaged(block, "its padding is not zero");
  }
  frame = *decoded;
  return {};
}

Status Reader::check_stored(const Frame& frame, Bytes stored) const {
  if (checksum(stored) != frame.payload_checksum) {
    return damaged(frame, "its bytes are damaged");
  }
  if (!check_digests_) return {};
  const auto& blocks = index_.blocks;
  const auto at =
      std::lower_bound(blocks.begin(), blocks.end(), frame.offset,
                       [](const Block& b, uint64_t offset) { return b.offset < offset; });
  const bool known = at != blocks.end() && at->offset == frame.offset;
  if (!known ||
      index_.digests[static_cast<size_t>(at - blocks.begin())] != digest_of(frame, stored)) {
    return damaged(frame, "it is not the block that the root digest stands for");
  }
  return {};
}

Status Reader::read(const Block& block, MutableBytes into) const {
  if (Status sane = check_place(block, source_->size()); !sane) return sane;
  if (into.size() != block.stored_size) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("block {} is {} bytes long, the memory for it {}", block.id,
                            block.stored_size, into.size()));
  }
  std::array<std::byte, kFrameHeaderSize + (size_t{1} << kMaxAlignmentLog2)> room;
  const auto head = MutableBytes(room).first(block.payload_offset() - block.offset);
  const MutableBytes parts[] = {head, into};
  if (Status read = source_->read(block.offset, parts); !read) return read;
  Frame frame;
  if (Status checked = check_head(block, head, frame); !checked) return checked;
  return check_stored(frame, into);
}

Result<BlockBytes> Reader::read(const Block& block) const {
  if (block.stored_size > block_limit_) {
    return fail(ErrorCode::exhausted,
                fmt::format("block {} ({}) of {} bytes is beyond the limit: read it into memory "
                            "of your own",
                            block.id, source_->name(), block.stored_size));
  }
  if (Status sane = check_place(block, source_->size()); !sane) {
    return sane.error();
  }
  BlockBytes bytes = BlockBytes::allocate(block.stored_size);
  if (bytes.size() != block.stored_size) {
    return fail(ErrorCode::exhausted,
                fmt::format("no memory for block {} of {} bytes", block.id, block.stored_size));
  }
  if (Status done = read(block, MutableBytes(bytes)); !done) return done.error();
  return bytes;
}

Result<Bytes> Reader::view(const Block& block) const {
  if (source_->data() == nullptr) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} is not in memory: read the block instead", source_->name()));
  }
  if (Status sane = check_place(block, source_->size()); !sane) {
    return sane.error();
  }
  const Bytes all(source_->data() + block.offset, block.end() - block.offset);
  const size_t head = block.payload_offset() - block.offset;
  Frame frame;
  if (Status checked = check_head(block, all.first(head), frame); !checked) {
    return checked.error();
  }
  if (Status checked = check_stored(frame, all.subspan(head)); !checked) {
    return checked.error();
  }
  return all.subspan(head);
}

}  // namespace hoist::container
