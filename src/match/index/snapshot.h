// Snapshots: the vocabulary and the stable segments of an index in one container file of kind
// "MTCH" (src/container), with the position in the store up to which it holds everything.
//
//   Result<LoadedSnapshot> loaded = load_snapshot(path, vocabulary, {});
//   SnapshotFile file(path, loaded->contents);
//   file.save({settings, position, &vocabulary, segments}, flush);
//
// A save appends the segments and symbols that the file does not have yet, what changed in those
// that it has, and a manifest that says what counts: the last manifest that was committed. Once
// half of the file counts no more, it is written anew beside the old one and replaces it. So a
// kill, a power cut or a full disk leaves the last save that succeeded.
//
// Blocks: kind says what, the id which.
//   symbols    id of the first symbol                   its strings and the following ones'
//   segment    segment number << 24 | part << 16 | n    n-th piece of a column (kPieceBytes each)
//   manifest   generation                               what counts
//
// Loading takes untrusted bytes: `corrupt` where a rule is broken, with a message that names no
// mend: it depends on whether there is a store. It allocates no more than a few
// times the file's size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "container/source.h"
#include "match/index/stable_segment.h"
#include "match/store/store.h"
#include "match/vocabulary/vocabulary.h"

namespace hoist::match {

// What is in the file and counts.
struct SnapshotContents {
  SnapshotContents() = default;
  // Nothing yet.
  explicit SnapshotContents(uint64_t generation) : generation(generation) {}

  bool exists = false;
  uint64_t generation = 0;  // the next manifest's; it never falls
  uint32_t symbols = 0;
  // First symbol of each block of symbols, and the block's bytes.
  std::map<uint32_t, uint64_t> symbol_blocks;
  std::map<uint64_t, uint64_t> segments;  // number → bytes
};

struct SnapshotState {
  IndexSettings settings;
  Position position;
  const Vocabulary* vocabulary = nullptr;
  std::vector<std::shared_ptr<StableSegment>> segments;
  uint32_t symbols = UINT32_MAX;  // further ones are left out; the segments have none of them
};

struct LoadedSnapshot {
  IndexSettings settings;
  Position position;
  std::vector<std::shared_ptr<StableSegment>> segments;
  uint64_t next_segment = 0;  // above every number in the file
  // What counts was read, but the file should be written anew.
  bool is_damaged = false;
  uint64_t lost_patterns = 0;  // of segments that were skipped
  SnapshotContents contents;
};

struct LoadOptions {
  uint64_t max_memory = UINT64_MAX;  // `exhausted` where the segments alone take more
  bool skip_damaged = false;         // segments, as long as manifest and symbols are whole
};

// Fills `vocabulary`, which must be empty, with symbols and their counts. `not_found` where there
// is no file.
Result<LoadedSnapshot> load_snapshot(const std::string& path, Vocabulary& vocabulary,
                                     const LoadOptions& options);
Result<LoadedSnapshot> load_snapshot(std::unique_ptr<container::Source> source,
                                     Vocabulary& vocabulary, const LoadOptions& options);

// Reads every byte up to the last commit; the next save drops what follows it, left from a crash.
// `corrupt` where a byte differs from what was written.
Status check_snapshot(const std::string& path);

// One thread at a time.
class SnapshotFile {
 public:
  SnapshotFile(std::string path, SnapshotContents contents)
      : path_(std::move(path)), contents_(std::move(contents)) {}

  // Durable when it returns; after an error the file is as it was. `before_commit` is called once
  // all has been read of `state`: whatever is in the file must be durable in the store too.
  Status save(const SnapshotState& state, const std::function<Status()>& before_commit);
  uint64_t generation() const { return contents_.generation; }

 private:
  std::string path_;
  SnapshotContents contents_;
};

}  // namespace hoist::match
