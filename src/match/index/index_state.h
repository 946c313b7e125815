// The inside of an Index, for the files that implement it.
//
// Locks, in the order in which they are taken: `syncing` (one fold or sync at a time), `writing`
// (one writer at a time), `waking` (what the threads wait for). Queries take none of them.
//
// Two threads work in the background: one makes segments of recent patterns and saves them, the
// other merges segments, which may take much longer.
//
// In a child after fork() there are neither threads nor locks, nobody changes anything, and the
// store must not be touched: RocksDB has locks and threads of its own. What queries look at is then
// as it was at the moment of the fork (base/fork.h).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>

#include "base/file.h"
#include "base/fork.h"
#include "base/private_fd.h"
#include "base/threads.h"
#include "match/gpu/segment_search.h"
#include "match/index/index.h"
#include "match/index/snapshot.h"
#include "match/index/tiers.h"
#include "match/vocabulary/vocabulary.h"

namespace hoist::match {

// One flush of the store's log for all threads that wait for one.
class GroupFlush {
 public:
  // Durable when it returns: all that was written before the call.
  Status flush(Store& store);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  uint64_t wanted_ = 0;
  uint64_t flushed_ = 0;
  bool busy_ = false;
};

// That there is none of this name.
Error no_pattern(std::string_view name);

struct Index::State {
  explicit State(std::string path, const IndexOptions& options)
      : path(std::move(path)), options(options) {}

  // open.cc
  Status open();
  void hold_on_gpu(const std::shared_ptr<StableSegment>& segment) const;
  Status lock_folder();
  Status load_ledger(bool has_snapshot, bool has_store);
  Status adopt();
  std::string repair_advice() const;
  Status load();
  Status load_segments(const std::string& snapshot_path);
  bool is_worth_remaking(const std::string& snapshot_path) const;
  Status replay();
  Status replay_change(uint64_t number, const Change& change, uint32_t known_serials);
  Status replay_pattern(StoredPattern&& pattern);
  void count_segments();

  // learn.cc
  Status check_process() const;
  Status foreign_store() const;
  Status check_writable() const;
  Status check_memory() const;
  uint64_t memory() const;
  std::optional<Place> find(const NameKey& name, uint32_t length) const;
  std::optional<Place> find(const NameKey& name) const;
  std::optional<Place> find_seen(const NameKey& name) const;
  std::optional<Place> find_serial(const NameKey& name, uint32_t length, uint32_t serial) const;
  Result<Learned> learn(const PatternText& pattern, const LearnOptions& learned);
  Result<Learned> learn_new(const PatternText& pattern, const NameKey& name,
                            const LearnOptions& learned);
  Result<Learned> learn_again(const Place& place, const LearnOptions& learned);
  bool same_pattern(const Place& place, const PatternText& pattern) const;
  bool is_for_ingest(const Place& place) const;
  void append(const NameKey& name, std::span<const uint32_t> symbols,
              std::span<const uint16_t> event_sizes, uint32_t serial, const PatternState& state);
  void set_state(const Place& place, uint32_t frequency,
                 std::shared_ptr<const EmotiveList> emotives);
  void note_touched(const Place& place);

  // merge.cc
  struct Merge {  // what becomes one segment
    bool has(const Place& place) const;

    std::vector<std::shared_ptr<StableSegment>> stable;
    std::vector<std::shared_ptr<RecentTier>> recent;
    uint64_t number = 0;                                 // of the new segment
    uint32_t symbols = 0;                                // of the vocabulary
    std::unordered_map<uint32_t, std::string> metadata;  // of a bulk, by serial
    std::vector<Place> touched;                          // since it began
  };
  void begin(Merge& merge);
  void end(const Merge& merge);
  Status replace(Merge& merge);
  Result<uint32_t> merge_where_due();
  void run_merges();
  void want_merges();
  void await_merges();

  // sync.cc
  Status fold(Position& at);
  Status fold_recent();
  Status fold_bulk();
  Status ingest(const Merge& merge);
  Status ingested(const Merge& merge, const Position& at);
  Status save(const Position& at);
  void send_again() const;
  Status save_merged();
  Status sync(bool merged);
  void wake_if_due();
  void wake_for(std::atomic<bool>& wanted);
  void run_syncs();

  const std::string path;
  const IndexOptions options;
  const OwnerProcess owner;
  IndexSettings settings;
  PrivateFd folder_lock;
  std::unique_ptr<Ledger> ledger;  // none: in memory, or made before there were ledgers
  std::unique_ptr<Store> store;    // none: search-only, or in memory
  std::unique_ptr<SnapshotFile> snapshot;
  bool search_only = false;
  std::unique_ptr<Vocabulary> vocabulary = std::make_unique<Vocabulary>();
  CurrentTiers tiers;
  std::unique_ptr<SegmentSearch> segment_search;
  GroupFlush group_flush;
  std::atomic<uint64_t> patterns = 0;
  std::atomic<uint64_t> frequencies = 0;
  std::atomic<uint64_t> stable_memory = 0;

  mutable std::mutex writing;
  Position position;  // the next
  std::atomic<bool> bulk = false;
  Position folded;             // everything before is in segments
  std::vector<Merge*> merges;  // under way: what changes in their tiers is noted
  uint64_t next_segment = 0;
  std::unordered_map<uint32_t, std::string> bulk_metadata;  // by serial
  uint32_t bulk_symbols = 0;  // the first that the store does not have
  uint32_t bulk_serial = 0;   // the same of patterns
  uint32_t bulk_endings = 0;  // under way: learning and removing wait for them
  std::condition_variable bulk_ended;
  Position saved;  // that of the snapshot

  std::mutex syncing;
  // The merging thread and bulks use it. It is not the process's pool: that serves one loop at a
  // time, and a stream of queries would keep a merge waiting, or a merge the queries.
  ThreadPool merge_pool{std::max(1, usable_cpus() / 2)};
  std::atomic<uint64_t> syncs = 0;
  std::atomic<double> last_sync_seconds = 0;
  std::atomic<double> last_fold_seconds = 0;

  std::atomic<uint32_t> sync_begun_serial = 0;  // the position's when the last sync began
  std::atomic<bool> merged_unsaved = false;
  std::atomic<bool> snapshot_is_lost = false;  // it was damaged: the next save makes it again

  mutable std::mutex waking;
  std::condition_variable wake;
  bool stop = false;
  bool stop_merging = false;
  std::atomic<bool> sync_wanted = false;
  std::atomic<bool> fold_wanted = false;
  bool merge_wanted = false;
  bool merge_running = false;
  std::string last_sync_error;
  std::thread sync_thread;
  std::thread merge_thread;
};

}  // namespace hoist::match
