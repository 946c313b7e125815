#include "ops/hash/gpu_hasher.h"

#include <utility>

#include "base/counters.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/stopwatch.h"
#include "device/remote/lent_device.h"
#include "ops/hash/gpu_slot.h"

namespace hoist::hash {
namespace {

constexpr size_t kUnderWay = 3;
constexpr size_t kSlots = kUnderWay + 1;
constexpr auto kPatience = std::chrono::milliseconds(2);

using Clock = std::chrono::steady_clock;

}  // namespace

OpenDevice lent_gpu() {
  return [] {
    constexpr uint64_t kRest = uint64_t{1} << 20;
    return device::remote::lent_device({.otherwise = device::remote::WithoutHoistd::none,
                                        .own_pool = kSlots * GpuSlot::host_bytes() + kRest});
  };
}

GpuHasher::GpuHasher(OpenDevice open_device) : open_device_(std::move(open_device)) {
  for (size_t i = 0; i < kUnderWay; ++i) {
    Result<std::thread> thread = start_quiet_thread([this, i] { run(i == 0); });
    if (!thread) {
      if (i == 0) give_up(thread.error().message);
      break;
    }
    threads_.push_back(*std::move(thread));
  }
}

GpuHasher::~GpuHasher() {
  {
    const std::lock_guard lock(mutex_);
    hurried_ = true;
    ending_ = true;
  }
  waiting_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void GpuHasher::give_up(const std::string& why) {
  usable_ = false;
  log(LogLevel::info, "hash: no GPU: {}", why);
}

void GpuHasher::open() {
  const Stopwatch watch;
  Result<std::shared_ptr<device::Device>> device = open_device_();
  if (!device) return give_up(device.error().message);
  for (size_t i = 0; i < kSlots; ++i) {
    slots_.push_back(std::make_unique<GpuSlot>());
    if (Status done = slots_[i]->allocate(*device); !done) {
      if (i == 0) return give_up(done.error().message);
      break;  // fewer do
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(slots_[i].get());
  }
  log(LogLevel::debug, "hash: GPU opened in {:.1f} ms", watch.milliseconds());
}

GpuHasher::Room GpuHasher::reserve(uint64_t bytes, size_t messages) {
  if (!usable_.load(std::memory_order_relaxed)) return {};
  if (!GpuSlot::ever_has_room(bytes, messages)) return {};
  bool may_leave = false;
  Room room;
  {
    const std::lock_guard lock(mutex_);
    if (filling_ != nullptr && !filling_->has_room(bytes, messages)) {
      full_.push_back(std::exchange(filling_, nullptr));
      may_leave = true;
    }
    if (filling_ == nullptr && !free_.empty()) {
      filling_ = free_.back();
      free_.pop_back();
      filling_->since = Clock::now();
      may_leave = true;  // in a moment: somebody has to look at the clock
    }
    if (filling_ != nullptr) {
      const bool was_worth_it = filling_->is_worth_sending();
      room = {filling_, filling_->reserve(bytes, messages)};
      may_leave |= filling_->is_worth_sending() != was_worth_it;
    }
  }
  if (may_leave) waiting_.notify_one();
  return room;
}

void GpuHasher::hash(const Room& room, std::span<const GpuMessage> messages,
                     std::function<void()> finished) {
  {
    const std::lock_guard lock(mutex_);
    GpuSlot& slot = *room.slot;
    slot.filled.insert(slot.filled.end(), messages.begin(), messages.end());
    slot.finished.push_back(std::move(finished));
  }
  release(room);
}

void GpuHasher::release(const Room& room) {
  bool may_be_waited_for;
  {
    const std::lock_guard lock(mutex_);
    may_be_waited_for = --room.slot->readers == 0 && room.slot != filling_;
  }
  if (may_be_waited_for) filled_.notify_all();
}

void GpuHasher::wait() {
  std::unique_lock lock(mutex_);
  hurried_ = true;
  waiting_.notify_all();
  idle_.wait(lock, [&] { return filling_ == nullptr && full_.empty() && under_way_ == 0; });
  hurried_ = false;
}

// The next that is to leave, when all its rooms are filled; null at the end.
GpuSlot* GpuHasher::take_slot() {
  std::unique_lock lock(mutex_);
  GpuSlot* slot = nullptr;
  while (slot == nullptr) {
    if (!full_.empty()) {
      slot = full_.front();
      full_.pop_front();
    } else if (filling_ == nullptr) {
      if (ending_) return nullptr;
      waiting_.wait(lock);
    } else if (const Clock::time_point leaves = filling_->since + kPatience;
               hurried_ || filling_->is_worth_sending() || Clock::now() >= leaves) {
      slot = std::exchange(filling_, nullptr);
    } else {
      waiting_.wait_until(lock, leaves);
    }
  }
  ++under_way_;
  filled_.wait(lock, [&] { return slot->readers == 0; });
  return slot;
}

// The slot may be filled again while its files' owners are told.
void GpuHasher::end(GpuSlot& slot) {
  const std::vector<std::function<void()>> finished = std::exchange(slot.finished, {});
  {
    const std::lock_guard lock(mutex_);
    slot.clear();
    free_.push_back(&slot);
  }
  for (const std::function<void()>& tell : finished) tell();
  {
    const std::lock_guard lock(mutex_);
    --under_way_;
  }
  idle_.notify_all();
}

void GpuHasher::run(bool opens) {
  if (opens) open();
  while (GpuSlot* const slot = take_slot()) {
    process(*slot);
    end(*slot);
  }
}

void GpuHasher::process(GpuSlot& slot) {
  if (slot.filled.empty()) return;
  const Status done = usable_ ? slot.hash() : fail(ErrorCode::unavailable, "it was given up");
  if (!done) {
    if (usable_.exchange(false)) give_up(done.error().message);
    slot.hash_here();
    return;
  }
  uint64_t bytes = 0;
  for (const GpuMessage& message : slot.filled) {
    message.result->reported = message.result->bytes;
    bytes += message.result->bytes;
  }
  Counters::process().add_progress("hash", "hoistd", bytes);
  bytes_ += bytes;
}

}  // namespace hoist::hash
