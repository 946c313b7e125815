// What the sessions of one node share: the patterns that they learned, in an index of their own,
// and what goes with them.
//
// An index is made with the first pattern. clear() begins anew: the folder of before is taken away
// once the last question to it is answered. After remove() nothing is learned any more:
// `not_found`.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/writer_first_mutex.h"
#include "match/index/index.h"
#include "service/node/affinities.h"
#include "service/node/pattern_metadata.h"
#include "service/node/side_store.h"
#include "service/node/vectors.h"
#include "service/session/session.h"

namespace hoist::service {

struct NodeOptions {
  std::string folder;  // that of the service
  match::Durability durability = match::Durability::batch;
  std::string device = "auto";
  uint64_t max_memory = UINT64_MAX;  // of an index
  size_t most_open = 256;            // nodes at once; the rest is in the folder alone
  std::stop_token stop = {};         // what takes long gives up once it is requested
  // Runs later, on another thread, what takes long and nobody waits for; false: it does not.
  std::function<bool(std::function<void()>)> run_later = {};
};

// What an observation's vectors become: the symbols of their sum and of its nearest neighbours.
struct ObservedVectors {
  std::vector<std::string> symbols;  // ascending
  std::vector<double> sum;
};

// A pattern with all that is kept of it (pattern_lines.h).
struct PatternRecord {
  std::string name;  // empty: that of its text
  std::vector<Event> events;
  uint32_t frequency = 1;
  match::EmotiveList emotives;
  PatternMetadata metadata;
};

class Node {
  struct Contents;
  // Contents that are not a node's any more, with a thread that may take long. Where nobody else
  // holds them at the end, it closes them.
  class Replaced {
   public:
    explicit Replaced(std::shared_ptr<Contents> contents = {}) : contents_(std::move(contents)) {}
    ~Replaced();
    Replaced(Replaced&& other) = default;
    Replaced& operator=(Replaced&& other) = delete;
    void set(std::shared_ptr<Contents> contents) { contents_ = std::move(contents); }
    const std::shared_ptr<Contents>& get() const { return contents_; }

   private:
    std::shared_ptr<Contents> contents_;
  };

 public:
  // Reads back what `store` has of it. `number` names its folder and its keys in the store.
  static Result<std::unique_ptr<Node>> open(std::string id, uint64_t number,
                                            const NodeOptions& options, SideStore& store);

  const std::string& id() const { return id_; }
  const std::stop_token& stop() const { return options_.stop; }

  // The name of the pattern, without prefix; empty where it has fewer than two symbols. From then
  // on the vectors are neighbours of others. `invalid_argument` where it would make too many
  // affinities or too much metadata, `exhausted` where the node has no memory left: then nothing
  // has changed.
  Result<std::string> learn(const std::vector<Event>& events, const match::EmotiveList& emotives,
                            const PatternMetadata& metadata,
                            std::span<const std::vector<double>> vectors = {});
  // Learns one that an export wrote, or anybody else: with its name, frequency and emotives.
  Status learn(const PatternRecord& record);
  Status forget(std::string_view name);
  // Whether who learns may wait long: for what is large, or for all to be replaced.
  bool is_held_long() const { return long_holds_ > 0; }
  // Whether a pattern has so much metadata that adding to it takes long.
  bool has_large_metadata() const { return contents()->has_large_metadata; }

  // Null while there is none.
  std::shared_ptr<match::Index> index() const;
  // Whether what is learned next finds an index, which takes a while to make.
  bool has_index() const { return index() != nullptr; }
  // Makes the index where there is none.
  Status prepare_to_learn();
  // Whether it learns nothing more until it is opened again (match::Index::takes_writes()).
  bool is_broken() const;
  std::shared_ptr<const Affinities> affinities() const;
  bool is_finalized() const { return contents()->finalized; }

  // `invalid_argument` where the vectors' lengths differ, or from those of before.
  Result<ObservedVectors> observe_vectors(std::span<const std::vector<double>> vectors) const;
  // Numbers of all learned vectors, which each observed one is compared with.
  size_t vector_numbers() const;
  // Without a pattern.
  Status learn_vectors(std::span<const std::vector<double>> vectors);

  // From now on records tell of whole patterns (match/record/record.h). Patterns of the node.
  Result<uint64_t> finalize_training();
  // Patterns are so long that writing an answer takes longer than others should wait.
  void note_large_answers() const { has_large_answers_ = true; }
  bool has_large_answers() const { return has_large_answers_; }

  // Takes all away that was learned. `number` is the one that it has from then on.
  Status clear(uint64_t number);
  // Takes the node itself away: the service no longer knows its name. Once.
  Status remove();
  // The same for one that is not open.
  static Status remove(const std::string& id, uint64_t number, const std::string& folder,
                       SideStore& store);

  // Calls `add` for each pattern and its metadata, JSON text or nothing, until it says false. An
  // error (metadata cannot be read, the node is broken, the service ends): not all patterns were
  // told. A long use.
  using Visit =
      std::function<bool(const match::VisitedPattern& pattern, const std::string& metadata)>;
  Status visit(const Visit& add) const;
  // Writes everything that clear() would take away as lines: a head, then a pattern each.
  // `cancelled` where `write` says false.
  Status save(const std::function<bool(std::string_view line)>& write) const;
  // Gives a line, or nothing at the end.
  using ReadLine = std::function<Result<std::optional<std::string>>()>;
  // What load() has read. Nothing stays of one that is dropped.
  class Loaded {
    friend class Node;
    explicit Loaded(std::shared_ptr<Contents> fresh) : owner(std::move(fresh)) {}
    Contents& contents() const { return *owner.get(); }
    Replaced owner;
    SideStore::Batch batch;
    uint64_t patterns = 0;
  };
  // Reads what save() wrote, for a node of this name that has `number` from then on.
  Result<Loaded> load(uint64_t number, const ReadLine& read) const;
  // Puts it in the place of what is there, all at once. Patterns of it.
  Result<uint64_t> restore(Loaded loaded);

  // Held by what waits for clients or files while it reads the node: for as long as that lasts the
  // node is not opened anew, and it ends once the node is broken.
  class LongUse {
   public:
    explicit LongUse(const Node& node) : uses_(node.long_uses_) { ++uses_; }
    ~LongUse() { --uses_; }
    LongUse(const LongUse&) = delete;
    LongUse& operator=(const LongUse&) = delete;

   private:
    std::atomic<int>& uses_;
  };
  bool is_in_long_use() const { return long_uses_ > 0; }
  // Whether a clearing failed, and the store cannot tell yet whether it is there.
  bool is_uncertain() const { return is_doubtful_ && store_.is_broken(); }

  // For how often it is used, and when last.
  void note_use();
  uint64_t uses() const { return uses_.load(std::memory_order_relaxed); }
  std::chrono::system_clock::time_point opened() const { return opened_; }
  std::chrono::system_clock::time_point last_used() const;

 private:
  // Held by who keeps others that learn waiting for long, from before it waits itself.
  class LongHold {
   public:
    explicit LongHold(Node& node) : holds_(node.long_holds_) { ++holds_; }
    ~LongHold() { --holds_; }
    LongHold(const LongHold&) = delete;
    LongHold& operator=(const LongHold&) = delete;

   private:
    std::atomic<int>& holds_;
  };

  // What clear() and restore() replace.
  struct Contents {
    ~Contents();
    uint64_t number = 0;
    std::unique_ptr<match::Index> index;
    Affinities affinities;
    Vectors vectors;
    std::atomic<bool> finalized = false;
    std::atomic<bool> has_large_metadata = false;
    std::string doomed;  // the index's folder, which goes when nobody uses this any more
    // Closes those that are doomed: other requests may wait for the thread that holds them last.
    std::function<bool(std::function<void()>)> run_later;
  };

  Node(std::string id, const NodeOptions& options, SideStore& store)
      : id_(std::move(id)), options_(options), store_(store) {}
  std::shared_ptr<Contents> new_contents(uint64_t number) const;
  std::shared_ptr<Contents> contents() const;
  using OpenIndex = Result<std::unique_ptr<match::Index>>;
  OpenIndex open_index(uint64_t number) const;
  OpenIndex make_index(uint64_t number) const;
  OpenIndex open_index_at(const std::string& path, bool create) const;
  Result<match::Index*> index_to_learn_in(Contents& contents);

  std::string folder(uint64_t number) const;
  Status read_back(Contents& contents) const;
  static void put_all(const std::string& id, const Contents& contents, SideStore::Batch& batch);
  Status write_surely(const SideStore::Batch& batch, const Contents& before);
  Status check_certain() const;
  // node_learn.cc
  struct Learning;
  struct MergedMetadata;
  Result<std::string> learn(Learning& learning);
  Result<std::string> learn_locked(Learning& learning, std::optional<MergedMetadata> merged);
  static Result<MergedMetadata> merge(Contents& contents, const match::Index* index,
                                      const Learning& learning,
                                      std::optional<MergedMetadata> ahead);
  Result<std::optional<MergedMetadata>> merge_ahead(const Learning& learning) const;
  Status check_memory(const Contents& contents, const match::Index* index, const Learning& learning,
                      uint64_t more) const;
  Status write_vectors(Contents& contents, const std::vector<Vectors::Named>& missing);
  Status write_affinities(Contents& contents, const Affinities::Change& change);
  static Result<std::string> learn_restored(Contents& contents, const PatternRecord& record);
  std::shared_ptr<match::Index> index_of(const std::shared_ptr<Contents>& contents) const;
  Status goes_on() const;  // unless the service ends
  Status visit(const std::shared_ptr<Contents>& contents, const Visit& add) const;
  // Lines of a snapshot: the first, and those that are no patterns.
  static Status read_head(Loaded& into, std::string_view line);
  static Status read_more(Loaded& into, std::string_view line);
  Status read_pattern(Loaded& into, std::string_view line) const;
  Status replace(std::shared_ptr<Contents> fresh, SideStore::Batch& batch, Replaced& before);
  static void discard(const std::string& id, uint64_t number, SideStore::Batch& batch);
  Error removed() const;

  const std::string id_;
  const NodeOptions options_;
  SideStore& store_;
  mutable std::mutex mutex_;  // of the pointers to contents and index
  std::shared_ptr<Contents> contents_;
  // Whoever adds to the contents shares it, whoever replaces them has it alone: nothing is written
  // for what is not there any more.
  mutable WriterFirstMutex replacing_;
  bool removed_ = false;  // of `replacing_`
  // One learning at a time reads and writes metadata, affinities and vectors. They are written
  // before they are in memory: what anybody sees there is written.
  std::mutex learning_;
  std::mutex making_;  // of the index
  std::atomic<uint64_t> uses_ = 0;
  mutable std::atomic<int> long_uses_ = 0;
  mutable std::atomic<bool> is_doubtful_ =
      false;  // a clearing failed, and may nevertheless be there
  std::atomic<int> long_holds_ = 0;
  mutable std::atomic<bool> has_large_answers_ = false;
  const std::chrono::system_clock::time_point opened_ = std::chrono::system_clock::now();
  std::atomic<int64_t> last_used_ms_ = 0;
};

}  // namespace hoist::service
