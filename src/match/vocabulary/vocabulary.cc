#include "match/vocabulary/vocabulary.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace hoist::match {
namespace {

constexpr size_t kFirstSlots = 2048;
constexpr size_t kArenaBytes = size_t{1} << 18;

uint64_t hash_of(std::string_view symbol) { return XXH3_64bits(symbol.data(), symbol.size()); }

}  // namespace

Vocabulary::Vocabulary() {
  tables_.push_back(std::make_unique<Table>(kFirstSlots));
  table_.store(tables_.back().get(), std::memory_order_release);
  memory_ = kFirstSlots * sizeof(uint64_t);
}

Vocabulary::~Vocabulary() {
  for (auto& list : lists_) delete[] list.load(std::memory_order_relaxed);
}

Vocabulary::Entry& Vocabulary::entry(uint32_t id) const {
  const uint64_t place = uint64_t{id} + kFirstList;
  const int bits = std::bit_width(place) - 1;
  Entry* const list =
      lists_[static_cast<size_t>(bits) - kFirstListBits].load(std::memory_order_acquire);
  return list[place - (uint64_t{1} << bits)];
}

std::optional<uint32_t> Vocabulary::find(std::string_view symbol) const {
  return find_in(*table_.load(std::memory_order_acquire), symbol, hash_of(symbol));
}

std::optional<uint32_t> Vocabulary::find_in(const Table& table, std::string_view symbol,
                                            uint64_t hash) const {
  for (size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    const uint64_t slot = table.slots[at].load(std::memory_order_acquire);
    if (slot == 0) return std::nullopt;
    const auto id = static_cast<uint32_t>(slot) - 1;
    if (slot >> 32 == hash >> 32 && this->symbol(id) == symbol) return id;
  }
}

uint32_t Vocabulary::add(std::string_view symbol) {
  const uint64_t hash = hash_of(symbol);
  const uint32_t id = size_.load(std::memory_order_relaxed);
  Table& table = *tables_.back();
  if (const auto known = find_in(table, symbol, hash)) return *known;

  const uint64_t place = uint64_t{id} + kFirstList;
  const int bits = std::bit_width(place) - 1;
  auto& list = lists_[static_cast<size_t>(bits) - kFirstListBits];
  Entry* entries = list.load(std::memory_order_relaxed);
  if (entries == nullptr) {
    entries = new Entry[uint64_t{1} << bits];
    memory_ += (uint64_t{1} << bits) * sizeof(Entry);
    list.store(entries, std::memory_order_release);
  }
  entries[place - (uint64_t{1} << bits)].symbol = keep(symbol);
  // The slot publishes the entry to find(), the size to symbol().
  put(table, hash, id);
  size_.store(id + 1, std::memory_order_release);
  if ((uint64_t{id} + 1) * 2 > table.mask) grow();
  return id;
}

void Vocabulary::recount(std::span<const uint32_t> symbols, uint32_t before, uint32_t after) {
  for (const uint32_t symbol : symbols) add_occurrences(symbol, int64_t{after} - int64_t{before});
  if ((before == 0) == (after == 0)) return;
  thread_local std::vector<uint32_t> distinct;
  distinct.assign(symbols.begin(), symbols.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const uint32_t symbol : distinct) add_patterns_with(symbol, after == 0 ? -1 : 1);
}

void Vocabulary::put(Table& table, uint64_t hash, uint32_t id) {
  size_t at = hash & table.mask;
  while (table.slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & table.mask;
  table.slots[at].store(hash >> 32 << 32 | (uint64_t{id} + 1), std::memory_order_release);
}

void Vocabulary::grow() {
  auto larger = std::make_unique<Table>((tables_.back()->mask + 1) * 2);
  const uint32_t count = size_.load(std::memory_order_relaxed);
  for (uint32_t id = 0; id < count; ++id) put(*larger, hash_of(symbol(id)), id);
  memory_ += (larger->mask + 1) * sizeof(uint64_t);
  table_.store(larger.get(), std::memory_order_release);
  tables_.push_back(std::move(larger));
}

std::string_view Vocabulary::keep(std::string_view symbol) {
  if (symbol.size() > arena_size_ - arena_used_) {
    arena_size_ = std::max(kArenaBytes, symbol.size());
    arenas_.push_back(std::make_unique<char[]>(arena_size_));
    arena_used_ = 0;
    memory_ += arena_size_;
  }
  char* const to = arenas_.empty() ? nullptr : arenas_.back().get() + arena_used_;
  if (!symbol.empty()) std::memcpy(to, symbol.data(), symbol.size());
  arena_used_ += symbol.size();
  return {to, symbol.size()};
}

}  // namespace hoist::match
