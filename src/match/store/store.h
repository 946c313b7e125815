// The durable half of an index: patterns, their states and metadata, the vocabulary, and a log of
// changes, in RocksDB. Queries never come here.
//
//   Result<std::unique_ptr<Store>> store = Store::open("INDEX/store", {.create = true});
//   (*store)->learn(pattern, "", new_symbols);   // in the write-ahead log when it returns
//   (*store)->flush_log();                       // on the disk when it returns
//
// Writing is for one thread at a time; flush_log() and reading are for any. What was written
// survives the process (kill -9) at once, and a power cut after flush_log(). Each write is whole or
// not there.
//
// Position: new patterns get ascending serials and changes of older ones ascending numbers. A
// snapshot that names the next of both is brought up to date by read_symbols(), read_changes() and
// read_patterns() from there on; the changes before may then be forgotten.
//
// Opening compares the store's files with what was acknowledged (ledger.h, store_check.h):
// `corrupt` where something is missing or damaged, before anything is changed.
//
// After a failed write (full disk) the store refuses further ones until it is opened again; what
// was there before is still there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "match/store/ledger.h"
#include "match/store/stored_pattern.h"

namespace hoist::match {

// The next pattern and the next change.
struct Position {
  uint32_t serial = 0;
  uint64_t change = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

// Chosen when an index is made, for ever.
struct IndexSettings {
  bool sort = true;          // symbols inside events
  uint32_t persistence = 5;  // how many learnings' emotives are kept

  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};

class Store {
 public:
  struct Options {
    bool create = false;          // `invalid_argument` where there is one already
    bool read_only = false;       // besides a process that writes; sees what is there now
    IndexSettings settings = {};  // with `create`
    // Knows what was acknowledged and must be there; it must outlive the store. With null, the
    // store takes what is there for all; a store that once had a ledger refuses that.
    Ledger* ledger = nullptr;
  };
  static Result<std::unique_ptr<Store>> open(const std::string& path, const Options& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const IndexSettings& settings() const;

  // Each calls `take` in ascending order and stops at the first error.
  Status read_symbols(uint32_t from, const std::function<Status(std::string_view)>& take) const;
  Status read_patterns(uint32_t from, const std::function<Status(StoredPattern&&)>& take) const;
  Status read_changes(uint64_t from, const std::function<Status(uint64_t, Change&&)>& take) const;
  // Nothing where the pattern is gone.
  Result<std::optional<PatternState>> read_state(uint32_t serial) const;
  // JSON text; empty where there is none.
  Result<std::string> read_metadata(uint32_t serial) const;

  // `symbols` have the ids from `first_symbol` on.
  struct NewSymbols {
    uint32_t first_symbol = 0;
    std::span<const std::string_view> symbols;
  };
  struct NewPattern {
    uint32_t serial = 0;
    std::string_view name;
    std::span<const uint32_t> symbols;
    std::span<const uint16_t> event_sizes;
    const PatternState* state = nullptr;
    std::string_view metadata;  // JSON text or empty
  };
  Status learn(const NewPattern& pattern, const NewSymbols& symbols);
  // `metadata` replaces what was there, unless it is empty.
  Status update(uint64_t number, const Change& change, const PatternState& state,
                std::string_view metadata);
  Status remove(uint64_t number, const Change& change);
  // Changes with lower numbers are in a snapshot. One that has not reached `before` is from then on
  // too old for this store.
  Status forget_changes(uint64_t before);
  Result<uint64_t> forgotten_changes() const;
  Status flush_log();
  // Reads every block of every table; `corrupt` where a checksum disagrees.
  Status check_tables() const;
  // False after a failed write.
  bool takes_writes() const;
  // Where the store is now.
  ChainPoint chain() const;
  // From now on; before it there was none. The chain begins here where there was none either.
  Status use_ledger(Ledger& ledger);

  // Many new patterns at once, beside the log: durable when it returns. `next` gives them by
  // ascending serials, false at the end; what it filled stays valid until it is called again.
  Status ingest(const NewSymbols& symbols, const std::function<bool(NewPattern&)>& next);

 private:
  struct State;
  static Result<std::unique_ptr<Store>> open_once(const std::string& path, const Options& options);
  Status close();
  explicit Store(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hoist::match
