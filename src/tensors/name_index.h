// Finds tensors by name, however many there are and whatever they are called.
//
//   NameIndex index;
//   for (size_t i = 0; i < tensors.size(); ++i) {
//     if (!index.add(tensors, i)) …  // an earlier one has its name
//   }
//   std::optional<size_t> number = index.find(tensors, "layer.0.w");
//
// It keeps hashes and numbers, no names: those are read from `tensors`, anything with [] whose
// elements have a `name`. The container may grow, move and be copied between calls, but what was
// added keeps its number and its name. Eight to sixteen bytes a tensor.
//
// Names come from files that nobody vouches for: the hash has a seed of this process's own, so that
// no file can be made of names that collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hoist::tensors {

class NameIndex {
 public:
  // Enters tensors[number]. False, and nothing is entered, where another one has its name.
  template <typename Tensors>
  bool add(const Tensors& tensors, size_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::string_view name = tensors[number].name;
    const uint32_t hash = hash_of(name);
    const size_t at = slot_of(tensors, name, hash);
    if (slots_[at].number != 0) return false;
    slots_[at] = {hash, static_cast<uint32_t>(number + 1)};
    ++count_;
    return true;
  }

  template <typename Tensors>
  std::optional<size_t> find(const Tensors& tensors, std::string_view name) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[slot_of(tensors, name, hash_of(name))];
    if (slot.number == 0) return std::nullopt;
    return slot.number - 1;
  }

 private:
  // One after the other from where the hash points, at least half of them free. 2^32 tensors have
  // more bytes in their headers than readers take.
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = 0;  // plus one; 0: free
  };

  static uint32_t hash_of(std::string_view name);
  void grow();

  // Where the name is, or could be entered.
  template <typename Tensors>
  size_t slot_of(const Tensors& tensors, std::string_view name, uint32_t hash) const {
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].number != 0 &&
           (slots_[at].hash != hash || tensors[slots_[at].number - 1].name != name)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<Slot> slots_;  // a power of two
  size_t count_ = 0;
};

}  // namespace hoist::tensors
