// Bytes that wait on disk until the file that they belong to can be written: a file without a name
// in the output's folder, so that a kill leaves nothing behind.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/fork.h"

namespace hoist::tensors {

class Spool {
 public:
  static Result<Spool> create(const std::string& output);

  // `unavailable` in a child after fork(), whose bytes would come into its parent's.
  Status check_process() const;
  uint64_t size() const { return size_; }
  Status append(std::span<const std::byte> bytes);
  Status read(uint64_t offset, std::span<std::byte> into) const;

 private:
  Spool(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  OwnerProcess process_;
  UniqueFd fd_;
  std::string name_;
  uint64_t size_ = 0;
};

}  // namespace hoist::tensors
