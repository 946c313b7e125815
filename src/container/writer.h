// Writing a container.
//
//   Result<Writer> writer = Writer::create("weights.holo", {.kind = four_letters("TENS")});
//   if (!writer) return writer.error();
//   if (Status added = writer->add({.id = 7, .raw_size = 4096, .codec = kZstd}, bytes); !added) …
//   if (Status done = writer->commit(); !done) …
//
// A new file appears under its name with the first commit(); WriterOptions::output says whether it
// may replace what was there. A writer that fails, is destroyed or killed before leaves none. An
// appending writer leaves the file as it was at the last commit(). More blocks and commits may
// follow a commit. Readers see the last commit, also while a writer works.
//
// commit() returns once the blocks are durable: blocks, then fdatasync, then the commit frame, then
// fdatasync, for a new file also the rename and the folder. WriterOptions::durable = false leaves
// the times to the kernel: safe against a kill, not against a power cut.
//
// One file has one writer: it holds flock(LOCK_EX), and a second one gets `unavailable`, also one
// that would replace the file. (Over NFS this is as good as its locks.) A Writer may be used by one
// thread at a time. After an I/O error, or one for want of memory, every later call fails with that
// error.
//
// In a child after fork() a writer of its parent's answers `unavailable`, and its end changes
// nothing.
//
// Memory: 256 KiB, and about 80 bytes for each block (112 with digests) for the index to come.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "container/index.h"

namespace hoist::container {

struct WriterOptions {
  uint32_t kind = 0;          // of the file: four_letters("TENS")
  std::string metadata = {};  // by convention CBOR (RFC 8949); kept as it is
  // BLAKE3 digests and a root for readers that do not trust their source. Costs a pass over all
  // bytes.
  bool digests = false;
  // All blocks in the order in which they will be added: their index goes to the front of the file,
  // so that a reader of a stream knows early where everything is.
  std::optional<std::vector<BlockInfo>> plan = std::nullopt;
  bool durable = true;
  mode_t mode = 0666;  // of a new file, less the umask
  OutputRule output = {.replace = Replace::any};
  bool lock_replaced = true;  // false where the caller has the lock of what is replaced
};

struct AppendOptions {
  bool durable = true;
  Limits limits = {};
};

class Output;

class Writer {
 public:
  static Result<Writer> create(const std::string& path, const WriterOptions& options = {});
  // One pass into a pipe, socket or file, which stays the caller's; `name` is for messages. A
  // reader of what was written before a failure sees the blocks that are whole.
  static Result<Writer> stream(int fd, const WriterOptions& options = {},
                               std::string name = "stream");
  // Goes on behind the last commit; what an earlier writer left unfinished there is dropped.
  // `corrupt` where that might be damaged instead (`hoist container repair`).
  static Result<Writer> append(const std::string& path, const AppendOptions& options = {});

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // `stored` are the bytes as the codec made them; the block's stored_size may be left 0.
  // `invalid_argument` where the id is there already, where the sizes of a block without codec
  // differ, or where a plan says otherwise.
  Status add(BlockInfo block, Bytes stored);
  // The bytes as they are.
  Status add(uint64_t id, Bytes raw);
  // Does nothing where nothing was added since the last. `invalid_argument` while planned blocks
  // are missing.
  Status commit();

  // The root of the last commit; nothing without digests.
  std::optional<Blake3Digest> root() const;
  // Bytes so far, those of before included.
  uint64_t size() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  static Result<Writer> begin(Output output, const WriterOptions& options);

  std::unique_ptr<State> state_;
};

}  // namespace hoist::container
