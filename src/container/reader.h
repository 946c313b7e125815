// Reading a container: which blocks there are, and their stored bytes, checked.
//
//   Result<Reader> reader = Reader::open("weights.holo");
//   if (!reader) return reader.error();
//   for (const Block& block : reader->blocks()) {
//     Result<BlockBytes> bytes = reader->read(block);   // any order, any number of threads
//     …
//   }
//
// What a reader sees: the blocks up to the file's last commit, however much of a later session
// follows (another process may be appending, or may have died doing so): a consistent prefix. Where
// no commit is to be found (a pipe's writer died, a download is under way) it sees the blocks that
// are there whole, and says so: state(). A damaged index is rebuilt from the block headers.
// Blocks that are committed later are seen by opening again.
//
// Ids: where an id occurs twice, find() gives the first in the file.
//
// Memory: open() allocates the metadata, at most 4 × min(file size, limits.index) bytes for the
// index, and 1 MiB; read(block) the block's stored size, which lies inside the file and within
// limits.block. `exhausted` beyond.
//
// A Reader is immutable: all const members may be called from several threads at once.
//
// Not guaranteed: that bytes are those that were written where someone changes them on purpose;
// the checksums find accidents. For sources that are not trusted give ReaderOptions::root.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/index.h"

namespace hoist::container {

struct ReaderOptions {
  Limits limits = {};
  // The root digest that the container must have (Writer::root()): everything read is then checked
  // against it, and the file must be committed and carry digests.
  std::optional<Blake3Digest> root = std::nullopt;
};

enum class IndexState {
  committed,   // the file ends in a commit, its index was read
  recovered,   // something follows the last commit, or the index is damaged and was rebuilt
  uncommitted  // there is no commit: what is there whole
};

// Memory for a block's stored bytes.
class BlockBytes {
 public:
  BlockBytes() = default;
  // Uninitialised; empty where the memory cannot be had.
  static BlockBytes allocate(uint64_t size);

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  operator Bytes() const { return {bytes_.get(), size_}; }
  operator MutableBytes() { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

class Reader {
 public:
  // By pread(), see container/source.h.
  static Result<Reader> open(const std::string& path, const ReaderOptions& options = {});
  static Result<Reader> open(std::unique_ptr<Source> source, const ReaderOptions& options = {});

  const FileHeader& header() const { return header_; }
  Bytes metadata() const { return metadata_; }
  IndexState state() const { return state_; }
  // In the order of the file, offsets ascending.
  std::span<const Block> blocks() const { return index_.blocks; }
  // nullptr: there is none. O(log n).
  const Block* find(uint64_t id) const;

  // The stored bytes of a block of this reader. `corrupt` where header, padding, checksum or digest
  // disagree: what is returned is what was written.
  Result<BlockBytes> read(const Block& block) const;
  // The same into the caller's memory of exactly stored_size bytes, whose content counts only when
  // this succeeds.
  Status read(const Block& block, MutableBytes into) const;
  // The same without a copy, from mapped files and memory; `unsupported` elsewhere. Checked at
  // every call.
  Result<Bytes> view(const Block& block) const;

  const Source& source() const { return *source_; }
  // Digests of blocks() and their root where the file carries them and is committed.
  const Index& index() const { return index_; }
  const Frame& metadata_frame() const { return metadata_frame_; }
  // Behind the last commit, where a session of appending begins; 0: there is no commit.
  uint64_t committed_end() const { return committed_end_; }

 private:
  explicit Reader(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  Status load(const ReaderOptions& options);
  Status load_head(const Limits& limits);
  Status rebuild(const Limits& limits);
  Status check_root(const Blake3Digest& root);
  void sort_ids();
  Error damaged(const Block& block, std::string_view what) const;
  Status check_head(const Block& block, Bytes head, Frame& frame) const;
  Status check_stored(const Frame& frame, Bytes stored) const;

  std::unique_ptr<Source> source_;
  FileHeader header_;
  Frame metadata_frame_;
  BlockBytes metadata_;
  IndexState state_ = IndexState::uncommitted;
  Index index_;
  uint64_t committed_end_ = 0;
  uint64_t block_limit_ = 0;
  bool check_digests_ = false;
  std::vector<uint32_t> by_id_;  // positions, ascending by id; empty where the blocks are so
};

}  // namespace hoist::container
