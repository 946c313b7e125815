// Where shards come from: a .holo file, memory, and whatever implements FragmentSource (HTTP,
// object stores, peers).
//
// Sources give bytes; nobody trusts them. Whoever loads a file has its header, which holds each
// shard's size and checksum, and takes a shard from the next source where one fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/fork.h"
#include "container/reader.h"

namespace hoist::tensors {

class FragmentSource {
 public:
  virtual ~FragmentSource() = default;

  // For messages.
  virtual const std::string& name() const = 0;
  // Sources are asked in ascending order.
  virtual int priority() const { return 100; }
  // Shards that it can give.
  virtual uint64_t count() const = 0;

  // The bytes of a shard; `into` has the size that the file's header says. May be called from
  // several threads at once. `not_found`: it does not have that shard. `unavailable` and `io`: it
  // may at another time. `cancelled`: `stop` was requested, which long waits should heed.
  virtual Status fetch(uint64_t shard, std::span<std::byte> into, const std::stop_token& stop) = 0;
};

// Reads from an opened container; shards are its blocks. The loader checks the checksums.
class FileFragmentSource final : public FragmentSource {
 public:
  FileFragmentSource(std::shared_ptr<const container::Reader> reader, int priority = 100)
      : reader_(std::move(reader)), priority_(priority) {}

  const std::string& name() const override { return reader_->source().name(); }
  int priority() const override { return priority_; }
  uint64_t count() const override { return reader_->blocks().size(); }
  Status fetch(uint64_t shard, std::span<std::byte> into, const std::stop_token& stop) override;

 private:
  std::shared_ptr<const container::Reader> reader_;
  int priority_;
};

class MemoryFragmentSource final : public FragmentSource {
 public:
  explicit MemoryFragmentSource(std::string name = "memory", int priority = 100)
      : name_(std::move(name)), priority_(priority) {}

  // Replaces what was there of that number.
  void put(uint64_t shard, std::vector<std::byte> bytes);
  void erase(uint64_t shard);

  const std::string& name() const override { return name_; }
  int priority() const override { return priority_; }
  uint64_t count() const override;
  Status fetch(uint64_t shard, std::span<std::byte> into, const std::stop_token& stop) override;

 private:
  std::string name_;
  int priority_;
  mutable ForkSafeMutex mutex_;
  std::map<uint64_t, std::vector<std::byte>> shards_;
};

}  // namespace hoist::tensors
