// Patterns that were learned lately: appended one by one by one thread, read by any number
// meanwhile. What was appended is there for every reader that asks size() afterwards.
//
// A pattern with frequency 0 has been removed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "match/index/emotive_table.h"
#include "match/index/pattern_names.h"

namespace hoist::match {

struct RecentPattern {
  NameKey name() const { return is_digest ? NameKey({}, digest) : NameKey(own_name); }
  std::string name_text() const { return is_digest ? digest_text(digest) : std::string(own_name); }

  std::span<const uint32_t> symbols;
  std::span<const uint16_t> event_sizes;
  std::string_view own_name;
  NameDigest digest{};
  bool is_digest = false;
  uint32_t serial = 0;
  std::atomic<uint32_t> frequency = 0;
};

class RecentTier {
 public:
  static constexpr uint32_t kMaxPatterns = 1u << 26;

  RecentTier();
  ~RecentTier();
  RecentTier(const RecentTier&) = delete;
  RecentTier& operator=(const RecentTier&) = delete;

  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  // `place` must be below size().
  RecentPattern& at(uint32_t place) const;
  EmotiveTable& emotives() { return emotives_; }
  const EmotiveTable& emotives() const { return emotives_; }
  uint64_t memory() const { return memory_.load(std::memory_order_relaxed) + emotives_.memory(); }

  // These two are the writer's. Copies what it is given; size() must be below kMaxPatterns.
  uint32_t append(const NameKey& name, std::span<const uint32_t> symbols,
                  std::span<const uint16_t> event_sizes, uint32_t serial, uint32_t frequency);
  // The live pattern of that name.
  std::optional<uint32_t> find(const NameKey& name) const;

 private:
  static constexpr uint32_t kChunk = 4096;

  void grow_table();
  void put(uint64_t hash, uint32_t place);
  void* keep(const void* bytes, size_t size);

  std::array<std::atomic<RecentPattern*>, kMaxPatterns / kChunk> chunks_{};
  std::atomic<uint32_t> size_ = 0;
  std::atomic<uint64_t> memory_ = 0;
  EmotiveTable emotives_;
  std::vector<uint32_t> table_;  // place + 1, or 0
  std::vector<std::unique_ptr<std::byte[]>> arenas_;
  size_t arena_used_ = 0;
  size_t arena_size_ = 0;
};

}  // namespace hoist::match
