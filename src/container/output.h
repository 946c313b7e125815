// Where a writer's bytes go: a new file that appears under its name only once it is published, the
// end of an existing file, or a descriptor that may be a pipe.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/file.h"
#include "container/format.h"

namespace hoist::container {

class Output {
 public:
  // A file without a name (O_TMPFILE) in the folder of `path`, or where the file system has none, a
  // file with a random name that is removed again unless published. `invalid_argument` where `path`
  // is something else than a file: publishing would replace a device or a pipe.
  static Result<Output> create(const std::string& path, mode_t mode);
  // The descriptor stays the caller's. Offsets count from where it stands.
  static Result<Output> stream(int fd, std::string name);
  // Opens and locks the file (flock, until this object goes): `unavailable` where another writer
  // has it. Writing begins only after restart_at().
  static Result<Output> append(const std::string& path);

  Output(Output&&) noexcept = default;
  Output& operator=(Output&&) = delete;
  ~Output();

  // Buffered; the first error is kept and given again by every later call.
  Status write(Bytes bytes);
  Status zeros(size_t count);
  Status flush();
  // Flushes, and waits until the bytes are on the disk if `durable`.
  Status sync(bool durable);
  // Gives a new file its name, replacing a file that had it.
  Status publish(bool durable);
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
  bool is_pending() const { return pending_; }

 private:
  Output(UniqueFd owned, int fd, std::string name);

  Status write_with_buffer(Bytes bytes);
  Status link_name();

  UniqueFd owned_;
  int fd_;
  std::string name_;
  std::string temporary_;  // the name until publication; empty where the file has none
  bool pending_ = false;   // not published yet
  bool cuttable_ = false;
  uint64_t offset_ = 0;
  std::string buffer_;
  Status status_;
};

}  // namespace hoist::container
