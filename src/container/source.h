// Where a container's bytes come from: a file read by pread(), a file mapped into memory, memory,
// or ranges fetched by a function (HTTP, object stores).
//
//   Result<std::unique_ptr<Source>> source = open_file_source("weights.holo");
//
// The size is that at the time of opening; bytes appended later are seen by a new Source. All
// members may be called from several threads at once. A Git LFS pointer or an HTML page in a file's
// place is `corrupt`, whatever was to be read from it.
//
// pread() is the default and right for files that others may write: what is cut off under a reader
// gives an error. A mapped file gives SIGBUS there, so map only files that nobody truncates;
// Hoist's own writers never cut off what was committed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "container/format.h"

namespace hoist::container {

class Source {
 public:
  virtual ~Source() = default;

  virtual uint64_t size() const = 0;
  // For messages.
  virtual const std::string& name() const = 0;
  // Fills the parts, one after the other, from `offset` on: one request, all or an error. What
  // reaches beyond the size is `corrupt`.
  virtual Status read(uint64_t offset, std::span<const MutableBytes> parts) const = 0;
  // All bytes where they lie in memory, else nullptr.
  virtual const std::byte* data() const { return nullptr; }

  Status read(uint64_t offset, MutableBytes into) const { return read(offset, {&into, 1}); }
};

Result<std::unique_ptr<Source>> open_file_source(const std::string& path);
// Reads from a descriptor that the caller holds open for reading; `name` is for messages.
Result<std::unique_ptr<Source>> file_source(UniqueFd fd, const std::string& name);
Result<std::unique_ptr<Source>> map_file_source(const std::string& path);

// The memory must outlive the source.
std::unique_ptr<Source> memory_source(Bytes bytes, std::string name = "memory");

// `fetch` gives exactly the `size` bytes from `offset` on, or an error; it may be called from
// several threads at once. The total size must be known.
using FetchRange = std::function<Result<std::string>(uint64_t offset, size_t size)>;
std::unique_ptr<Source> range_source(uint64_t size, FetchRange fetch, std::string name = "ranges");

}  // namespace hoist::container
