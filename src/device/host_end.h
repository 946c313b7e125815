// The host's end of a transfer: where the bytes come from, or go to (see device/transfer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <variant>

#include "base/result.h"

namespace hoist::device {

// Bytes of a file from `offset` on. The descriptor's own position is neither used nor moved.
struct HostFile {
  int fd = -1;
  uint64_t offset = 0;
};

// The next bytes of a socket or pipe, in order; it may be blocking or not.
struct HostStream {
  int fd = -1;
};

// Gives the bytes of a source chunk by chunk.
class HostReader {
 public:
  virtual ~HostReader() = default;
  // Whether chunks may be read in any order and by several threads at once.
  virtual bool is_random_access() const { return true; }
  // Whether reads of less than a megabyte are slow.
  virtual bool wants_large_reads() const { return false; }
  // Fills `into` with the bytes from `at` on, counted from the transfer's beginning. Without random
  // access `at` follows the bytes of the last call. What it answers ends the transfer: `io` where
  // there are fewer bytes, `cancelled` where a wait was stopped.
  virtual Status read(uint64_t at, std::span<std::byte> into) = 0;
};

class HostWriter {
 public:
  virtual ~HostWriter() = default;
  virtual bool is_random_access() const { return true; }
  virtual Status write(uint64_t at, std::span<const std::byte> bytes) = 0;
};

// The end itself, or one that an operation makes: the parts of a matrix with a leading dimension.
// It must outlive the call.
using HostSource = std::variant<std::span<const std::byte>, HostFile, HostStream, HostReader*>;
using HostSink = std::variant<std::span<std::byte>, HostFile, HostStream, HostWriter*>;

// For a transfer of `size` bytes; `invalid_argument` where memory is of another size.
Result<std::shared_ptr<HostReader>> open_source(const HostSource& source, uint64_t size,
                                                std::stop_token stop);
Result<std::shared_ptr<HostWriter>> open_sink(const HostSink& sink, uint64_t size,
                                              std::stop_token stop);

}  // namespace hoist::device
