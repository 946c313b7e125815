// Where a writer's bytes go: a new file that appears under its name only once it is published, the
// end of an existing file, or a descriptor that may be a pipe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fork.h"
#include "base/output_file.h"
#include "base/private_fd.h"
#include "container/format.h"

namespace hoist::container {

class Output {
 public:
  // Whether create() would refuse as things stand: before long work.
  static Status check(const std::string& path, const OutputRule& rule);
  // A file that gets its name when it is published (base/output_file.h, whose rule says what may
  // stand there). `invalid_argument` where `path` is something else than a file: readers need one.
  // `lock`: what is replaced is locked meanwhile, and `unavailable` while a writer has it.
  static Result<Output> create(const std::string& path, mode_t mode, OutputRule rule = {},
                               bool lock = true);
  // The descriptor stays the caller's. Offsets count from where it stands.
  static Result<Output> stream(int fd, std::string name);
  // Opens and locks the file (file_lock.h, until this object goes): `unavailable` where another
  // writer has it. Writing begins only after restart_at().
  static Result<Output> append(const std::string& path);

  Output(Output&&) noexcept = default;
  Output& operator=(Output&&) = delete;
  ~Output();

  // All of them `unavailable` in a child after fork(), where a second writer would mix its bytes
  // with its parent's. Buffered; the first error is kept and given again by every later call.
  Status write(Bytes bytes);
  Status zeros(size_t count);
  Status flush();
  // Flushes, and waits until the bytes are on the disk if `durable`.
  Status sync(bool durable);
  // Gives a new file its name.
  Status publish(bool durable);
  // `io` where the name of a file that is appended to does not lead to it any more: nobody will
  // read it there.
  Status check_name();
  // The new file, flushed, to be published with others (OutputFile::publish_all).
  Result<OutputFile> take_file();
  // The same open file, locked as this is.
  Result<UniqueFd> duplicate() const;
  // Cuts the file off at `offset` and goes on from there.
  Status restart_at(uint64_t offset);
  // Drops what was written behind `offset` as far as that is possible.
  void abandon(uint64_t offset);

  // Keeps an error for every later call, unless there is one already.
  Status broken(Status status);
  const Status& status() const { return status_; }

  uint64_t offset() const { return offset_; }
  const std::string& name() const { return name_; }
  bool is_pending() const { return file_ && file_->is_pending(); }

 private:
  Output(UniqueFd owned, int fd, std::string name);

  Status check_process() const;
  Status write_with_buffer(Bytes bytes);

  OwnerProcess process_;
  std::optional<OutputFile> file_;  // a new one
  PrivateFd replaced_;              // locked, until the new one has its name
  PrivateFd owned_;                 // one that is appended to; its lock must not live on in a child
  UniqueFd folder_;                 // where that one's name is
  int fd_;
  std::string name_;
  bool cuttable_ = false;
  uint64_t offset_ = 0;
  std::string buffer_;
  Status status_;
};

}  // namespace hoist::container
