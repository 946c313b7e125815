// Getting shards and streams of one file from any number of sources that may fail.
//
//   FragmentFetcher fetcher(index, {local, mirror});
//   Status got = fetcher.read_stream(index->layout.part_stream(tensor, part), into);
//
// Each shard is asked for source by source, by priority; a source that says `unavailable` or `io`
// is tried again up to max_retries times. Bytes count only if their checksum is the header's. What
// no source gives is computed from the other shards of its group where parity allows.
//
// Const members may be called from several threads at once. Memory: mending takes N + 1 shards.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/threads.h"
#include "tensors/file/fragment_source.h"
#include "tensors/file/layout.h"

namespace hoist::tensors {

// A file's header and what follows from it; immutable.
struct HoloIndex {
  HoloTensorHeader header;
  Layout layout;
};

struct FetchOptions {
  bool validate_checksums = true;
  bool repair = true;  // through parity
  uint32_t max_retries = 3;
  std::stop_token stop = {};
};

// Of shards that were asked for; one that two sources give wrong counts as corrupt twice.
struct FetchStatistics {
  uint64_t valid = 0;
  uint64_t corrupt = 0;
  uint64_t missing = 0;
  uint64_t retries = 0;
  uint64_t repaired = 0;
};

class FragmentFetcher {
 public:
  FragmentFetcher(std::shared_ptr<const HoloIndex> index,
                  std::vector<std::shared_ptr<FragmentSource>> sources, FetchOptions options = {});

  const HoloIndex& index() const { return *index_; }
  FetchStatistics statistics() const;

  // `into` has the shard's size. `corrupt`: no source has it right, and parity cannot mend it.
  Status fetch(uint64_t shard, std::span<std::byte> into) const;

  // The whole stream as it is stored.
  Status read_stream(size_t stream, std::span<std::byte> into, ThreadPool* pool = nullptr) const;

 private:
  struct Counters {
    std::atomic<uint64_t> valid{0}, corrupt{0}, missing{0}, retries{0}, repaired{0};
  };
  // The last shard of which only a piece was wanted: its other pieces are often next.
  struct Recent {
    std::mutex mutex;
    uint64_t shard = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;
  };

  Status fetch_from_sources(uint64_t shard, std::span<std::byte> into) const;
  Status fetch_from(FragmentSource& source, uint64_t shard, std::span<std::byte> into) const;
  Status mend(uint64_t shard, std::span<std::byte> into) const;
  Status read_piece(const StreamPiece& piece, std::span<std::byte> into) const;

  std::shared_ptr<const HoloIndex> index_;
  std::vector<std::shared_ptr<FragmentSource>> sources_;
  FetchOptions options_;
  std::unique_ptr<Counters> counters_ = std::make_unique<Counters>();
  std::unique_ptr<Recent> recent_ = std::make_unique<Recent>();
};

}  // namespace hoist::tensors
