// An index: patterns that can be learned, removed, searched and predicted from, in memory, with a
// durable store behind it.
//
//   Result<std::unique_ptr<Index>> index = Index::open("INDEX", {.create = true});
//   Result<Learned> learned = (*index)->learn({{"a", "b"}, {"c"}}, {});
//   Result<IndexSearchResult> found = (*index)->search({{"b"}, {"c"}}, {.threshold = 0.5});
//   for (const IndexHit& hit : found->hits) use(hit.score, found->name(hit));
//
// What is learned is in the very next query, whoever asks it. Learned patterns lie in a recent tier
// until they are laid out as a stable segment, in the background, while queries and learning go on;
// answers never depend on where a pattern lies. Stable segments of like size are merged as they
// become many, and those of which a quarter was removed are cleaned.
//
// On disk an index is a folder: store/ (RocksDB: patterns, frequencies, emotives, metadata) and
// snapshot.hoist (the stable segments, for a quick start). Opening loads the snapshot and replays
// what the store has besides; without a readable snapshot it is built from the store. A search-only
// index has no store, and cannot learn once it is built.
//
// Durability: with `batch`, what was acknowledged survives the process (kill -9); with `sync` also
// a power cut: one fdatasync serves all threads that wait for it. INDEX/ledger names the last write
// that was acknowledged: opening is `corrupt` where that or one before is missing or damaged, and
// then changes nothing (match/store/ledger.h).
//
// Thread-safe: any number of threads may call any member. Learning and removing take turns. One
// process may have an index open for writing, others read-only meanwhile: they see what was there
// when they opened it.
//
// A child after fork() has the index as it was at that moment, whatever other threads were doing:
// search(), predict(), contains(), names(), stats() answer. What changes it, and what the store has
// to be asked for (metadata(), verify()), is `unavailable`; destruction leaves all to the parent,
// memory included.
//
// Memory: see StableSegment and Vocabulary; a recent pattern takes 4 bytes a symbol, 2 an event and
// 120 besides. What makes or merges segments takes, until it is done, the new segment and 24 bytes
// a pattern and 4 a symbol of what goes into it. RocksDB takes up to 300 MiB while much is learned.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "match/gpu/device_bytes.h"
#include "match/index/search.h"
#include "match/record/record.h"
#include "match/store/store.h"
#include "match/vocabulary/pattern.h"

namespace hoist::match {

enum class Durability : uint8_t { batch, sync };

struct IndexOptions {
  // `invalid_argument` where there is something already, and with `read_only`.
  bool create = false;
  bool read_only = false;       // `unavailable` is then what learning, removing and syncing return
  bool search_only = false;     // with `create`: without a store
  bool check_snapshot = false;  // read every byte of it first; a damaged one is made again
  IndexSettings settings = {};  // with `create`
  Durability durability = Durability::batch;
  // Standing memory above which opening fails and learning is refused, with `exhausted`.
  uint64_t max_memory = UINT64_MAX;
  // Once so many patterns are recent they are laid out as a segment, in memory and in the
  // background; 0: only by a sync. A query takes 60 times as long for a recent pattern as for one
  // in a segment.
  uint32_t recent_patterns = 512;
  // A sync begins by itself once so many patterns were learned since the last, and so long after
  // it while any was; 0: it does not.
  uint32_t sync_patterns = 65'536;
  std::chrono::seconds sync_interval = std::chrono::seconds(300);
  // Where large stable segments are searched: "cuda:N" keeps their symbols in that GPU's memory,
  // "cuda:N,cuda:M" in that of several; "cpu" none; "auto" opens a GPU once the CPU's searches have
  // taken as long as that takes, and uses it where it is ahead (docs/design/match-gpu.md). Answers
  // are the same.
  std::string device = "auto";
};

struct LearnOptions {
  std::string_view name = {};  // else that of pattern_name()
  uint32_t frequency = 1;      // by which the pattern's rises
  Emotives emotives = {};
  // Further ones behind them, each an entry of the rolling list, oldest first.
  std::span<const Emotives> more_emotives = {};
  std::string_view metadata = {};  // JSON text; it replaces what was there unless empty
  bool single_symbols = false;     // learn a pattern of one symbol, too
};

struct Learned {
  std::string name;
  uint32_t frequency;  // 1 above the number of times that it was learned before
  bool is_new;
};

// What is kept of a pattern. Symbols are valid for as long as the index lives.
struct KnownPattern {
  std::vector<std::vector<std::string_view>> events;
  uint32_t frequency = 0;
  EmotiveList emotives;  // the latest learnings' that had some, oldest first
  std::string metadata;  // JSON text, empty where there is none
};

// A pattern that a visit of all comes to; what it views is valid until the visit goes on.
struct VisitedPattern {
  std::string name;
  std::vector<std::vector<std::string_view>> events;
  uint32_t frequency = 0;
  std::shared_ptr<const EmotiveList> emotives;  // null without
};

// How often a symbol was learned, and in how many of the patterns it is.
struct SymbolStats {
  std::string_view symbol;
  uint64_t occurrences;
  uint64_t patterns;
};

struct IndexStats {
  uint64_t patterns = 0;
  uint64_t recent_patterns = 0;   // of these, not yet in a segment
  uint64_t removed_patterns = 0;  // still in segments
  uint64_t frequencies = 0;       // their sum
  uint64_t symbols = 0;           // of the vocabulary
  uint64_t memory = 0;
  uint64_t syncs = 0;  // since it was opened
  double last_sync_seconds = 0;
  double last_fold_seconds = 0;    // of these, until the new segment was in use
  std::string last_sync_error;     // of the syncs that begin by themselves
  std::vector<uint64_t> segments;  // live patterns of each
  Position position;
  IndexSettings settings;
  bool search_only = false;
  std::string search_device;               // where large segments are searched now: "cpu", "cuda:0"
  std::vector<DeviceBytes> device_memory;  // of these GPUs, what their symbols take there
};

class Index {
 public:
  // An empty path: in memory only, gone with the object; `create` is then understood.
  static Result<std::unique_ptr<Index>> open(const std::string& path, const IndexOptions& options);
  // Waits for what is under way, and for the merges that are due where a snapshot is kept. What was
  // learned since the last sync stays in the store.
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // `unavailable` in a child after fork(), where nothing can be learned, removed or synced.
  Status check_process() const;

  // `invalid_argument` for fewer than two symbols (LearnOptions::single_symbols), more than 65 535,
  // symbols that are no UTF-8, and for a name that stands for another pattern. Only what succeeds
  // changes anything.
  Result<Learned> learn(const std::vector<std::vector<std::string>>& events,
                        const LearnOptions& options = {});
  // The same, where the caller has views; `pattern` comes back normalised.
  Result<Learned> learn(PatternText& pattern, const LearnOptions& options);
  // `not_found` where there is no such pattern.
  Status remove(std::string_view name);
  bool contains(std::string_view name) const;
  // JSON text, empty where there is none. `not_found` as above.
  Result<std::string> metadata(std::string_view name) const;
  // `not_found` as above.
  Result<KnownPattern> pattern(std::string_view name) const;
  // The events of a pattern that a search of this index found.
  std::vector<std::vector<std::string_view>> events(const IndexSearchResult& result,
                                                    const IndexHit& hit) const;
  // The names of patterns by IndexHit::id; `not_found` as above. It takes time in proportion to the
  // patterns of the index.
  Result<std::vector<std::string>> names(std::span<const uint32_t> ids) const;

  // When it returns, all that was learned before is in segments and in the snapshot.
  Status sync();

  // Between the two, learning writes nothing: end_bulk() makes it durable, all together and much
  // faster, or fails; after a crash before that the index is what it was at begin_bulk(), or has
  // some of the patterns. What other threads learn meanwhile is part of it; while it ends they
  // wait.
  Status begin_bulk();
  Status end_bulk();

  // Everything that reaches the threshold, or the best `top` of it.
  Result<IndexSearchResult> search(const std::vector<std::vector<std::string>>& state,
                                   const IndexSearchOptions& options = {}) const;
  // Searches for several states together, which takes less time than one by one; they come back
  // normalised.
  Result<std::vector<IndexSearchResult>> search(std::span<PatternText> states,
                                                const IndexSearchOptions& options) const;

  // Records of the patterns that the state recalls (match/record/record.h). `state` comes back
  // normalised: records name its symbols by their places.
  Result<Prediction> predict(PatternText& state, const RecordOptions& options = {}) const;
  // Predicts from several states together.
  Result<std::vector<Prediction>> predict(std::span<PatternText> states,
                                          const RecordOptions& options) const;
  // The symbol of an id in a record, valid for as long as the index lives.
  std::string_view symbol(uint32_t id) const;

  // Calls `visit` for each pattern of this moment, in no order, until it says false.
  void visit(const std::function<bool(const VisitedPattern& pattern)>& visit) const;
  // All symbols that were ever learned. Symbols are valid for as long as the index lives.
  std::vector<SymbolStats> symbols() const;

  // False after a write to its folder failed (a full disk): until the index is opened again it is
  // as it was, and learns nothing.
  bool takes_writes() const;
  IndexStats stats() const;
  // Bytes of it, sooner than stats() and whoever learns.
  uint64_t memory() const;
  // Reads every byte of snapshot and tables and compares memory with the store, which opening has
  // compared with what was acknowledged; the number of patterns compared. `corrupt` where they
  // disagree or are damaged: match/index/repair.h saves what is whole.
  Result<uint64_t> verify() const;

 private:
  struct State;
  explicit Index(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hoist::match
