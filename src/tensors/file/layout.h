// Where the bytes of a .holo file's streams lie: shards, and the groups that parity is made over.
//
// Shards are numbered in the order of the file; shard s is the container's block of id s.
//
// A group is up to N data shards of equal size (the last may be shorter) and K parity shards over
// them. Its data shards lie one after the other in the file, 64 bytes from the end of one to the
// beginning of the next (block header and padding), and hold a run of bytes:
//   - of streams of rules.bundle bytes or more: the whole stream, or an equal piece of it where
//     N shards of max_shard do not hold it;
//   - of smaller streams: as many neighbours as fit rules.bundle, each from a multiple of 64 on.
//     In layer order groups end with a layer, so that a layer's shards hold nothing else.
// Equal size means a Nth of the run, rounded up to 64 bytes, at least min_shard; from 1 MiB on so
// that with the 64 bytes between them shards come at multiples of 4 KiB.
//
// Parts of any-subset encodings are equals and each other's alternative: there shard i of a group
// is (a piece of) part i.
//
// Skeletons come behind all parts, parity shards behind everything: who does not need them reads a
// prefix of the file.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tensors/file/header.h"

namespace hoist::tensors {

struct ShardPlace {
  uint64_t bytes = 0;
  uint32_t group = 0;
  uint8_t alignment_log2 = 6;
  bool is_parity = false;
};

struct ShardGroup {
  std::vector<uint64_t> data;    // shard numbers
  std::vector<uint64_t> parity;  // all of shard_bytes
  uint64_t shard_bytes = 0;      // data shards count as padded with zeros to it
};

// Some bytes of a stream.
struct StreamPiece {
  uint64_t shard = 0;
  uint64_t shard_offset = 0;
  uint64_t stream_offset = 0;
  uint64_t bytes = 0;
};

class Layout {
 public:
  // A function of all of the header but its checksums. The header was decoded, or keeps the same
  // rules. `corrupt` where there would be more than `most_shards`: a reader knows how many there
  // are, one for each checksum, so that no header can ask for more memory than a few times its
  // size.
  static Result<Layout> of(const HoloTensorHeader& header,
                           uint64_t most_shards = std::numeric_limits<uint64_t>::max());

  const std::vector<ShardPlace>& shards() const { return shards_; }
  const std::vector<ShardGroup>& groups() const { return groups_; }
  // In the order of the stream.
  const std::vector<StreamPiece>& pieces(size_t stream) const { return pieces_[stream]; }

  size_t streams() const { return pieces_.size(); }
  size_t part_stream(size_t tensor, size_t part) const { return first_stream_[tensor] + part; }
  size_t skeleton_stream(size_t file) const { return first_skeleton_ + file; }

 private:
  class Planner;

  std::vector<ShardPlace> shards_;
  std::vector<ShardGroup> groups_;
  std::vector<std::vector<StreamPiece>> pieces_;
  std::vector<size_t> first_stream_;
  size_t first_skeleton_ = 0;
};

}  // namespace hoist::tensors
