// Symbol (a string) ↔ 32-bit id. Append-only: ids count from 0 in the order of first learning, and
// stay.
//
//   Vocabulary vocabulary;
//   uint32_t id = vocabulary.add("shoe");  // one writer at a time
//   vocabulary.find("shoe") == id;         // any number of threads meanwhile, without locks
//   vocabulary.symbol(id) == "shoe";
//
// A query looks up and never adds: symbols that nobody learned leave no trace.
//
// Beside each symbol stands in how many patterns it is, and how often it was learned in them: once
// for each time that it is in a pattern, times the pattern's frequency.
//
// Memory: the symbols' bytes, 32 to 64 each for the list, and 32 to 64 each for the table with
// its smaller predecessors, which stay for readers that still look into them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hoist::match {

class Vocabulary {
 public:
  // No id is above.
  static constexpr uint32_t kMaxSymbols = 0xfff00000;

  Vocabulary();
  ~Vocabulary();
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  std::optional<uint32_t> find(std::string_view symbol) const;
  // `id` must be below size(). The bytes live as long as the vocabulary.
  std::string_view symbol(uint32_t id) const { return entry(id).symbol; }
  // Symbols with lower ids are there for every thread that saw this size.
  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  uint64_t memory() const { return memory_.load(std::memory_order_relaxed); }

  // The symbol's id, a new one where it has none. One thread at a time; size() must be below
  // kMaxSymbols.
  uint32_t add(std::string_view symbol);

  uint32_t patterns_with(uint32_t id) const {
    return entry(id).patterns.load(std::memory_order_relaxed);
  }
  void add_patterns_with(uint32_t id, int32_t count) {
    entry(id).patterns.fetch_add(static_cast<uint32_t>(count), std::memory_order_relaxed);
  }
  // A pattern of these symbols changed its frequency; 0: it was not there, or is no more.
  void recount(std::span<const uint32_t> symbols, uint32_t before, uint32_t after);
  uint64_t occurrences(uint32_t id) const {
    return entry(id).occurrences.load(std::memory_order_relaxed);
  }
  void add_occurrences(uint32_t id, int64_t count) {
    entry(id).occurrences.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::string_view symbol;
    std::atomic<uint64_t> occurrences = 0;
    std::atomic<uint32_t> patterns = 0;
  };
  struct Table {
    explicit Table(size_t slots) : mask(slots - 1), slots(new std::atomic<uint64_t>[slots]()) {}
    size_t mask;
    // Upper half of the hash << 32 | id + 1; 0: free.
    std::unique_ptr<std::atomic<uint64_t>[]> slots;
  };
  // List k holds the symbols whose id + kFirstList has its highest bit at k + kFirstListBits.
  static constexpr uint32_t kFirstListBits = 10;
  static constexpr uint32_t kFirstList = 1u << kFirstListBits;
  static constexpr size_t kLists = 33 - kFirstListBits;

  Entry& entry(uint32_t id) const;
  std::optional<uint32_t> find_in(const Table& table, std::string_view symbol, uint64_t hash) const;
  void put(Table& table, uint64_t hash, uint32_t id);
  void grow();
  std::string_view keep(std::string_view symbol);

  std::atomic<const Table*> table_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::array<std::atomic<Entry*>, kLists> lists_{};
  std::atomic<uint32_t> size_ = 0;
  std::atomic<uint64_t> memory_ = 0;
  std::vector<std::unique_ptr<char[]>> arenas_;
  size_t arena_used_ = 0;
  size_t arena_size_ = 0;
};

}  // namespace hoist::match
