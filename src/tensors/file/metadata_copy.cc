#include "tensors/file/metadata_copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "container/frames.h"
#include "container/index.h"
#include "tensors/file/file_format.h"

namespace hoist::tensors {
namespace {

using container::MutableBytes;
using container::Source;

class SharedSource final : public Source {
 public:
  explicit SharedSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  uint64_t size() const override { return source_->size(); }
  const std::string& name() const override { return source_->name(); }
  const std::byte* data() const override { return source_->data(); }
  using Source::read;
  Status read(uint64_t offset, std::span<const MutableBytes> parts) const override {
    return source_->read(offset, parts);
  }

 private:
  std::shared_ptr<const Source> source_;
};

// A source of which some bytes are others.
class PatchedSource final : public Source {
 public:
  PatchedSource(std::shared_ptr<const Source> source, uint64_t begin, std::string bytes)
      : source_(std::move(source)), begin_(begin), bytes_(std::move(bytes)) {}

  uint64_t size() const override { return source_->size(); }
  const std::string& name() const override { return source_->name(); }
  using Source::read;
  Status read(uint64_t offset, std::span<const MutableBytes> parts) const override {
    if (Status done = source_->read(offset, parts); !done) return done;
    for (const MutableBytes& part : parts) {
      const uint64_t first = std::max(offset, begin_);
      const uint64_t last = std::min(offset + part.size(), begin_ + bytes_.size());
      if (first < last) {
        std::memcpy(part.data() + (first - offset), bytes_.data() + (first - begin_), last - first);
      }
      offset += part.size();
    }
    return {};
  }

 private:
  std::shared_ptr<const Source> source_;
  uint64_t begin_;
  std::string bytes_;
};

// The blocks that the file's end lists.
Result<container::Index> blocks_of(const Source& source) {
  std::array<std::byte, container::kFileHeaderSize> bytes;
  if (Status read = source.read(0, MutableBytes(bytes)); !read) return read.error();
  const Result<container::FileHeader> header = container::decode_file_header(bytes);
  if (!header) return header.error();
  const Result<uint64_t> commit = container::find_last_commit(source);
  if (!commit) return commit.error();
  return container::load_index(source, *header, *commit, holo_limits(source.size()));
}

// The bytes of the frame that begins behind the file header, with the metadata that `copy` holds.
Result<std::string> metadata_frame(const Source& source, const container::Block& copy) {
  const Result<container::Frame> stored = container::FrameWalker(source).at(copy.offset);
  if (!stored) return stored.error();
  // What is read here is what the list says, and blocks of the list do not overlap: however many
  // there are, the file is read once at most.
  if (stored->section != container::Section::block ||
      static_cast<const container::Block&>(*stored) != copy) {
    return fail(ErrorCode::corrupt, "a copy that disagrees with the list");
  }
  if (stored->stored_size > holo_limits(source.size()).metadata) {
    return fail(ErrorCode::exhausted, "metadata larger than the limit");
  }
  container::Frame frame;
  frame.section = container::Section::metadata;
  frame.offset = container::kFileHeaderSize;
  frame.raw_size = frame.stored_size = stored->stored_size;
  frame.payload_checksum = stored->payload_checksum;
  if (frame.end() > copy.offset) return fail(ErrorCode::corrupt, "a copy where none can be");
  std::string bytes(frame.end() - frame.offset, '\0');
  const auto header = container::encode_frame_header(frame);
  std::memcpy(bytes.data(), header.data(), header.size());
  const MutableBytes payload =
      std::as_writable_bytes(std::span(bytes)).subspan(frame.payload_offset() - frame.offset);
  if (Status read = source.read(stored->payload_offset(), payload); !read) {
    return read.error();
  }
  if (container::checksum(payload) != stored->payload_checksum) {
    return fail(ErrorCode::corrupt, "a copy that is damaged, too");
  }
  return bytes;
}

}  // namespace

std::unique_ptr<Source> share(std::shared_ptr<const Source> source) {
  return std::make_unique<SharedSource>(std::move(source));
}

Result<std::unique_ptr<Source>> with_metadata_copy(std::shared_ptr<const Source> source) try {
  const Result<container::Index> index = blocks_of(*source);
  if (!index) return index.error();
  for (const container::Block& block : index->blocks) {
    if (block.kind != kMetadataCopy) continue;
    Result<std::string> frame = metadata_frame(*source, block);
    if (!frame && frame.error().code != ErrorCode::corrupt) return frame.error();
    if (!frame) continue;
    return std::make_unique<PatchedSource>(std::move(source), container::kFileHeaderSize,
                                           *std::move(frame));
  }
  return fail(ErrorCode::corrupt, fmt::format("no intact metadata ({})", source->name()));
} catch (const std::bad_alloc&) {
  return fail(ErrorCode::exhausted, "no memory for the metadata");
}

}  // namespace hoist::tensors
