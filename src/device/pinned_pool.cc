#include "device/pinned_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace hoist::device {
namespace {

constexpr size_t kSmallestSlab = size_t{2} << 20;  // a huge page

size_t class_of(size_t size) {
  const size_t rounded = std::bit_ceil(std::max(size, PinnedPool::kSmallest));
  return static_cast<size_t>(std::countr_zero(rounded / PinnedPool::kSmallest));
}

size_t block_size(size_t size_class) { return PinnedPool::kSmallest << size_class; }

// Small blocks share a huge page.
size_t slab_size(size_t size_class) { return std::max(block_size(size_class), kSmallestSlab); }

}  // namespace

PinnedBlock& PinnedBlock::operator=(PinnedBlock&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBlock::~PinnedBlock() {
  if (data_ != nullptr) pool_->release(*this, nullptr);
}

void PinnedBlock::release_after(Event event) {
  if (data_ != nullptr) pool_->release(*this, &event);
}

void PinnedBlock::release_behind(std::span<Stream* const> streams) {
  if (data_ == nullptr) return;
  Result<Event> all = Event::create(pool_->device());
  bool is_behind_all = all.has_value();
  for (Stream* const stream : streams) {
    is_behind_all = is_behind_all && stream->wait(*all) && all->record(*stream);
  }
  if (!is_behind_all) return abandon();
  release_after(std::move(*all));
}

void PinnedBlock::abandon() {
  if (data_ != nullptr) pool_->abandon(*this);
}

PinnedPool::PinnedPool(Device& device, size_t limit) : device_(device) {
  statistics_.limit = limit;
}

PinnedPool::~PinnedPool() {
  if (!process_.is_current()) return;
  collect();
  for (const auto& [data, slab] : slabs_) (void)device_.free_pinned(data, slab.bytes);
}

Result<PinnedBlock> PinnedPool::allocate(size_t size) {
  if (size > kLargest) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes in one pinned block: at most {}", size, kLargest));
  }
  if (!process_.is_current()) {
    return fail(ErrorCode::unavailable,
                fmt::format("this process is a fork of the one that made the pool of pinned memory "
                            "({}): make another here",
                            device_.properties().id()));
  }
  const size_t size_class = class_of(size);
  std::vector<std::byte*>& free = free_[size_class];
  std::unique_lock lock(mutex_);
  if (free.empty()) collect();
  if (free.empty()) {
    const size_t bytes = slab_size(size_class);
    if (statistics_.pinned + bytes > statistics_.limit) trim_locked();
    if (statistics_.pinned + bytes > statistics_.limit) {
      return fail(ErrorCode::exhausted,
                  fmt::format("{} of {} bytes of pinned memory are taken ({}): use a larger pool",
                              statistics_.pinned, statistics_.limit, device_.properties().id()));
    }
    statistics_.pinned += bytes;
    Result<void*> allocated = nullptr;
    for (const bool may_trim : {true, false}) {
      lock.unlock();
      allocated = device_.allocate_pinned(bytes);
      lock.lock();
      const bool is_short = !allocated && allocated.error().code == ErrorCode::exhausted;
      if (!is_short || !may_trim) break;
      trim_locked();  // blocks of other sizes may have its place
    }
    if (!allocated) {
      statistics_.pinned -= bytes;
      return allocated.error();
    }
    auto* const data = static_cast<std::byte*>(*allocated);
    ++statistics_.pins;
    slabs_[data] = {bytes, size_class, 0};
    // The lowest address first.
    for (size_t end = bytes; end > 0; end -= block_size(size_class)) {
      free.push_back(data + end - block_size(size_class));
    }
  }
  // The block that was returned last: its cache lines are warm.
  std::byte* const data = free.back();
  free.pop_back();
  ++slab_of(data)->second.held;
  ++statistics_.allocations;
  statistics_.in_use += block_size(size_class);
  return PinnedBlock(*this, data, size);
}

PinnedStatistics PinnedPool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void PinnedPool::trim() {
  if (!process_.is_current()) return;
  const std::lock_guard lock(mutex_);
  collect();
  trim_locked();
}

PinnedPool::Slabs::iterator PinnedPool::slab_of(std::byte* data) {
  return std::prev(slabs_.upper_bound(data));
}

void PinnedPool::give_back(std::byte* data) {
  Slab& slab = slab_of(data)->second;
  --slab.held;
  free_[slab.size_class].push_back(data);
}

void PinnedPool::release(PinnedBlock& block, Event* event) {
  if (!process_.is_current()) {
    block.data_ = nullptr;
    return;
  }
  const std::lock_guard lock(mutex_);
  std::byte* const data = std::exchange(block.data_, nullptr);
  statistics_.in_use -= block_size(slab_of(data)->second.size_class);
  if (event == nullptr) {
    give_back(data);
  } else {
    pending_.push_back({std::move(*event), data});
  }
}

void PinnedPool::abandon(PinnedBlock& block) {
  if (!process_.is_current()) {
    block.data_ = nullptr;
    return;
  }
  const std::lock_guard lock(mutex_);
  std::byte* const data = std::exchange(block.data_, nullptr);
  statistics_.in_use -= block_size(slab_of(data)->second.size_class);
  quarantine(data);
}

void PinnedPool::quarantine(std::byte* data) {
  statistics_.quarantined += block_size(slab_of(data)->second.size_class);
}

void PinnedPool::collect() {
  std::erase_if(pending_, [this](Pending& pending) {
    const Result<bool> done = pending.event.is_done();
    if (done && !*done) return false;
    if (done) {
      give_back(pending.data);
    } else {
      quarantine(pending.data);
    }
    return true;
  });
}

void PinnedPool::trim_locked() {
  std::erase_if(slabs_, [this](const auto& entry) {
    std::byte* const data = entry.first;
    const Slab& slab = entry.second;
    if (slab.held > 0) return false;
    std::erase_if(free_[slab.size_class], [&](const std::byte* block) {
      return block >= data && block < data + slab.bytes;
    });
    if (device_.free_pinned(data, slab.bytes)) statistics_.pinned -= slab.bytes;
    return true;
  });
}

}  // namespace hoist::device
