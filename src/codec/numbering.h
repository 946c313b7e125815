// Numbers distinct values in order of first appearance: a hash table with open addressing, at most
// half full, that stores the numbers only.
//
// The values may come from an adversary who makes them collide, which would take time quadratic in
// their number. A search of more than kMaxProbes steps therefore ends without a number. Values that
// were not made for it do not come near: the longest cluster of a table half full grows with the
// logarithm of its size, and one of 256 has a probability of about 1e-20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::codec {

// The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
inline uint64_t hash_of(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

inline uint64_t hash_of(std::string_view value) { return std::hash<std::string_view>{}(value); }

template <typename T>
class Numbering {
 public:
  // Numbers have 32 bits, and the last one marks an empty slot.
  static constexpr size_t kMaxValues = UINT32_MAX;

  // Nothing where there are more than `max_values` values, or they collide without end.
  explicit Numbering(size_t max_values)
      : slots_(1024, kEmpty), max_values_(max_values < kMaxValues ? max_values : kMaxValues) {}

  std::optional<uint32_t> number(T value) {
    size_t slot = hash_of(value);
    for (unsigned probes = 0; probes < kMaxProbes; ++probes, ++slot) {
      const uint32_t number = slots_[slot & (slots_.size() - 1)];
      if (number == kEmpty) return add(value, slot & (slots_.size() - 1));
      if (values_[number] == value) return number;
    }
    return std::nullopt;
  }

  std::vector<T> take_values() && { return std::move(values_); }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  static constexpr unsigned kMaxProbes = 256;

  std::optional<uint32_t> add(T value, size_t slot) {
    if (values_.size() >= max_values_) return std::nullopt;
    const auto number = static_cast<uint32_t>(values_.size());
    slots_[slot] = number;
    values_.push_back(value);
    if (values_.size() * 2 > slots_.size() && !grow()) return std::nullopt;
    return number;
  }

  bool grow() {
    slots_.assign(slots_.size() * 4, kEmpty);
    for (uint32_t number = 0; number < values_.size(); ++number) {
      size_t slot = hash_of(values_[number]) & (slots_.size() - 1);
      for (unsigned probes = 0; slots_[slot] != kEmpty; ++probes) {
        if (probes == kMaxProbes) return false;
        slot = (slot + 1) & (slots_.size() - 1);
      }
      slots_[slot] = number;
    }
    return true;
  }

  std::vector<uint32_t> slots_;
  std::vector<T> values_;
  size_t max_values_;
};

}  // namespace hoist::codec
