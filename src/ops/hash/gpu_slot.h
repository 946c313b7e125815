// Files on their way to a GPU and back: memory that the process shares with hoistd, and as much on
// the device. Part of gpu_hasher.cc, which says when what may be done with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "ops/hash/hash_file.h"

namespace hoist::hash {

// The bytes of a file, in a room of a slot and beginning as the room does or at a multiple of
// GpuSlot::kAlignment behind, and who gets the digest.
struct GpuMessage {
  std::span<const uint8_t> bytes;
  FileDigest* result;
};

class GpuSlot {
 public:
  static constexpr uint64_t kAlignment = 64;  // of x86's cache lines; the kernel asks for 16
  static constexpr uint64_t aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) & ~(kAlignment - 1);
  }
  // Host memory that a slot takes.
  static uint64_t host_bytes();

  GpuSlot() = default;
  GpuSlot(const GpuSlot&) = delete;
  GpuSlot& operator=(const GpuSlot&) = delete;
  ~GpuSlot();
  Status allocate(const std::shared_ptr<device::Device>& device);

  static bool ever_has_room(uint64_t bytes, size_t messages);
  bool has_room(uint64_t bytes, size_t messages) const;
  // That much of the data.
  std::span<uint8_t> reserve(uint64_t bytes, size_t messages);
  bool is_worth_sending() const;

  // Gives each message its digest, by the device. Fails where that failed, or where the digest of
  // one, which is computed here as well, is another: then none counts.
  Status hash();
  // Gives each message its digest, computed here.
  void hash_here() const;
  void clear();

  std::chrono::steady_clock::time_point since;  // the first room
  size_t readers = 0;                           // rooms that are not filled yet
  std::vector<GpuMessage> filled;
  std::vector<std::function<void()>> finished;  // to be called then

 private:
  Status bring_digests();
  Digest digest(size_t message) const;

  std::shared_ptr<device::Device> device_;
  std::byte* memory_ = nullptr;
  device::Buffer on_device_;
  uint64_t used_ = 0;    // of the data
  size_t messages_ = 0;  // reserved
};

}  // namespace hoist::hash
