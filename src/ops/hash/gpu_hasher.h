// SHA-256 of small files by a GPU that hoistd lends, while this process's threads read them.
//
//   GpuHasher gpu(lent_gpu());                              // opens it meanwhile, on a thread
//   if (GpuHasher::Room room = gpu.reserve(bytes, files)) { // else: the thread hashes them itself
//     …                                                     // read into room.memory
//     gpu.hash(room, messages, finished);                   // calls finished() some time later
//   }
//   gpu.wait();
//
// Reading a file of 16 KiB costs a thread about as much as hashing it. Threads that only read are
// therefore up to twice as fast, and they hash as well while the GPU is not open yet, or behind.
//
// Files go there many at a time, through a few slots of the memory that is shared with hoistd. The
// threads fill one slot while the others are on their way, each seen there and back by a thread of
// its own. A slot leaves when it is half full or 2 ms old, so that nobody waits long for digests.
//
// Whatever goes wrong there, it is not used again: what was read lies in memory still, and is
// hashed here. One message of each slot is hashed here in any case, and compared.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "ops/hash/gpu_slot.h"
#include "ops/hash/hash_file.h"

namespace hoist::hash {

using OpenDevice = std::function<Result<std::shared_ptr<device::Device>>()>;

// hoistd's, if one answers.
OpenDevice lent_gpu();

// All is thread-safe but wait(), which one thread calls when no other one calls anything.
class GpuHasher {
 public:
  // Whether the GPU is for a file: hashing a smaller one costs less than it takes to send it, and a
  // larger one keeps the others of its slot waiting.
  static bool takes(DigestKind kind, uint64_t bytes) {
    return kind == DigestKind{Algorithm::sha256, 32} && bytes >= kSmallest && bytes <= kLargest;
  }
  // What a file takes of the memory: one byte more than it has shows that it has grown.
  static uint64_t room_for(uint64_t bytes) { return GpuSlot::aligned(bytes + 1); }

  // Part of a slot; its memory is aligned to GpuSlot::kAlignment.
  struct Room {
    GpuSlot* slot = nullptr;
    std::span<uint8_t> memory = {};
    explicit operator bool() const { return slot != nullptr; }
  };

  explicit GpuHasher(OpenDevice open_device);
  // What was handed to hash() is finished.
  ~GpuHasher();
  GpuHasher(const GpuHasher&) = delete;
  GpuHasher& operator=(const GpuHasher&) = delete;

  // None where there is no room now. Each room goes to hash() or release() soon, for its slot waits
  // for it.
  Room reserve(uint64_t bytes, size_t messages);
  // `finished` is called on another thread when all digests are there.
  void hash(const Room& room, std::span<const GpuMessage> messages, std::function<void()> finished);
  // Nothing is in it.
  void release(const Room& room);
  // Until all that was handed over is finished.
  void wait();

  // What the GPU has hashed so far, and whether it did all that it was given.
  uint64_t bytes() const { return bytes_; }
  bool was_used() const { return bytes_ > 0 && usable_; }

 private:
  static constexpr uint64_t kSmallest = 4 << 10;
  static constexpr uint64_t kLargest = 256 << 10;

  void run(bool opens);
  void open();
  void give_up(const std::string& why);
  GpuSlot* take_slot();
  void process(GpuSlot& slot);
  void end(GpuSlot& slot);

  const OpenDevice open_device_;
  std::atomic<bool> usable_ = true;
  std::atomic<uint64_t> bytes_ = 0;
  std::vector<std::unique_ptr<GpuSlot>> slots_;  // the opener's

  std::mutex mutex_;                 // for all that follows
  std::condition_variable waiting_;  // a slot waits to leave
  std::condition_variable filled_;   // one that leaves is filled
  std::condition_variable idle_;     // one is finished
  GpuSlot* filling_ = nullptr;
  std::deque<GpuSlot*> full_;  // that leave next
  std::vector<GpuSlot*> free_;
  size_t under_way_ = 0;  // slots that left and are not finished
  bool hurried_ = false;
  bool ending_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace hoist::hash
