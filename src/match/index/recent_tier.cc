#include "match/index/recent_tier.h"

#include <algorithm>
#include <cstring>

namespace hoist::match {
namespace {

constexpr size_t kFirstTable = 1024;
constexpr size_t kArenaBytes = size_t{1} << 18;

}  // namespace

RecentTier::RecentTier() : table_(kFirstTable) {
  memory_ = sizeof *this + kFirstTable * sizeof(uint32_t);
}

RecentTier::~RecentTier() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

RecentPattern& RecentTier::at(uint32_t place) const {
  return chunks_[place / kChunk].load(std::memory_order_acquire)[place % kChunk];
}

uint32_t RecentTier::append(const NameKey& name, std::span<const uint32_t> symbols,
                            std::span<const uint16_t> event_sizes, uint32_t serial,
                            uint32_t frequency) {
  const uint32_t place = size_.load(std::memory_order_relaxed);
  auto& chunk = chunks_[place / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new RecentPattern[kChunk], std::memory_order_release);
    memory_ += kChunk * sizeof(RecentPattern);
  }
  RecentPattern& pattern = at(place);
  pattern.symbols = {static_cast<uint32_t*>(keep(symbols.data(), symbols.size_bytes())),
                     symbols.size()};
  pattern.event_sizes = {static_cast<uint16_t*>(keep(event_sizes.data(), event_sizes.size_bytes())),
                         event_sizes.size()};
  pattern.is_digest = name.is_digest;
  pattern.digest = name.digest;
  if (!name.is_digest) {
    pattern.own_name = {static_cast<char*>(keep(name.text.data(), name.text.size())),
                        name.text.size()};
  }
  pattern.serial = serial;
  pattern.frequency.store(frequency, std::memory_order_relaxed);
  if ((size_t{place} + 1) * 2 > table_.size()) grow_table();
  put(name.hash(), place);
  size_.store(place + 1, std::memory_order_release);
  return place;
}

std::optional<uint32_t> RecentTier::find(const NameKey& name) const {
  const size_t mask = table_.size() - 1;
  for (size_t slot = name.hash() & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
    const RecentPattern& pattern = at(table_[slot] - 1);
    if (pattern.frequency.load(std::memory_order_relaxed) != 0 &&
        compare(pattern.name(), name) == 0) {
      return table_[slot] - 1;
    }
  }
  return std::nullopt;
}

void RecentTier::grow_table() {
  memory_ += table_.size() * sizeof(uint32_t);
  table_.assign(table_.size() * 2, 0);
  const uint32_t count = size_.load(std::memory_order_relaxed);
  for (uint32_t place = 0; place < count; ++place) put(at(place).name().hash(), place);
}

void RecentTier::put(uint64_t hash, uint32_t place) {
  const size_t mask = table_.size() - 1;
  size_t slot = hash & mask;
  while (table_[slot] != 0) slot = (slot + 1) & mask;
  table_[slot] = place + 1;
}

void* RecentTier::keep(const void* bytes, size_t size) {
  constexpr size_t kAlign = alignof(uint32_t);
  const size_t room = (size + kAlign - 1) / kAlign * kAlign;
  if (room > arena_size_ - arena_used_ || arenas_.empty()) {
    arena_size_ = std::max(kArenaBytes, room);
    arenas_.push_back(std::make_unique<std::byte[]>(arena_size_));
    arena_used_ = 0;
    memory_ += arena_size_;
  }
  std::byte* const to = arenas_.back().get() + arena_used_;
  if (size != 0) std::memcpy(to, bytes, size);
  arena_used_ += room;
  return to;
}

}  // namespace hoist::match
