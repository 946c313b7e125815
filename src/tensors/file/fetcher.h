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
#include <stop_token>
#include <vector>

#include "base/fork.h"
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

// Counts the shards that were asked for, also to mend others. Each counts once in a field, however
// often it was asked for.
struct FetchStatistics {
  uint64_t valid = 0;    // a source gave it
  uint64_t corrupt = 0;  // a source gave it wrong
  uint64_t missing = 0;  // a source did not give it
  uint64_t retries = 0;  // not of shards: of attempts
  uint64_t repaired = 0;
  uint64_t damaged = 0;  // corrupt or missing
  // No group has more damaged shards than parity mends, among those that were asked for.
  bool repairable = true;
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
  // Some of it, from its byte `offset` on: only the shards that hold it are fetched, whole.
  Status read_stream(size_t stream, uint64_t offset, std::span<std::byte> into,
                     ThreadPool* pool = nullptr) const;

 private:
  // What happened to a shard, as bits.
  enum Outcome : uint8_t { kValid = 1, kCorrupt = 2, kMissing = 4, kRepaired = 8 };
  struct Outcomes {
    explicit Outcomes(size_t count) : shards(count) {}
    void add(uint64_t shard, Outcome outcome) {
      shards[shard].fetch_or(outcome, std::memory_order_relaxed);
    }
    std::vector<std::atomic<uint8_t>> shards;
    std::atomic<uint64_t> retries{0};
  };
  // The last shard of which only a piece was wanted: its other pieces are often next.
  struct Recent {
    OwnerProcess process;
    ForkSafeMutex mutex;  // a child reads as well
    uint64_t shard = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;
  };

  Status fetch_from_sources(uint64_t shard, std::span<std::byte> into) const;
  Status fetch_from(FragmentSource& source, uint64_t shard, std::span<std::byte> into) const;
  Status mend(uint64_t shard, std::span<std::byte> into) const;
  // Reads the piece from its byte `from` on.
  Status read_piece(const StreamPiece& piece, uint64_t from, std::span<std::byte> into) const;

  std::shared_ptr<const HoloIndex> index_;
  std::vector<std::shared_ptr<FragmentSource>> sources_;
  FetchOptions options_;
  std::unique_ptr<Outcomes> outcomes_;
  std::unique_ptr<Recent> recent_ = std::make_unique<Recent>();
};

}  // namespace hoist::tensors
