#include "ops/qsort/judge.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/qsort/collation.h"

namespace hoist::qsort {
namespace {

class Judge {
 public:
  Judge(const Call& call, const Order& order, const Mappings& mappings, const Sorted& sorted,
        hoist_qsort_r* original, bool original_is_stable)
      : call_(call),
        order_(order),
        mappings_(mappings),
        sorted_(sorted),
        original_(original),
        original_is_stable_(original_is_stable) {}

  // The differences of integers that far apart overflow in a comparator that subtracts; such a one
  // is no order, although it tells neighbours right.
  bool far_apart_agree() const {
    for (size_t key = 1; key < order_.count; ++key) {
      if (is_integer(order_.keys[key].type) && !far_apart_agree_in_runs(key)) return false;
    }
    if (!is_integer(order_.keys[0].type)) return true;
    const uint64_t low = first_word(0);
    if (first_word(call_.count - 1) - low < kFarApart) return true;
    constexpr size_t kProbes = 16;
    const size_t last = call_.count - 1;
    for (size_t i = 1; i <= kProbes; ++i) {
      const size_t at = last * i / kProbes;
      if (first_word(at) != low && call_.ask(0, at) >= 0) return false;
      if (first_word(last - at) != first_word(last) && call_.ask(last - at, last) >= 0) {
        return false;
      }
    }
    return true;
  }

  bool neighbours_agree() {
    const Key& key = order_.keys[0];
    return is_pointer(key.type) ? neighbours_agree<true>(key.offset)
                                : neighbours_agree<false>(key.offset);
  }

 private:
  // Most of the time of sorting plain numbers is spent here: a serial pass, since the comparator is
  // the program's.
  template <bool kStrings>
  bool neighbours_agree(size_t offset) {
    constexpr size_t kAhead = 16;
    const auto [base, count, size, compare, context] = call_;
    const std::byte* at = base;
    for (size_t i = 0; i + 1 < count; ++i, at += size) {
      if constexpr (kStrings) {
        // The strings that the comparator is about to read lie all over the memory.
        const size_t next = std::min(i + kAhead, count - 1);
        __builtin_prefetch(words::load<const std::byte*>(call_.at(next) + offset));
      }
      const int result = compare(at, at + size, context);
      if (result < 0) continue;
      if (!(result == 0 ? in_order_of_input(i) : sort_run(i))) return false;
      at = call_.at(i);
    }
    return true;
  }

  static constexpr uint64_t kFarApart = uint64_t{1} << 31;

  // The same of a further key, in each run of elements that the keys before it leave equal.
  bool far_apart_agree_in_runs(size_t key) const {
    size_t start = 0;
    for (size_t i = 1; i <= call_.count; ++i) {
      if (i < call_.count && equal_before(key, i - 1, i)) continue;
      const bool far_apart = word(key, i - 1) - word(key, start) >= kFarApart;
      if (far_apart && call_.ask(start, i - 1) >= 0) return false;
      start = i;
    }
    return true;
  }
  bool equal_before(size_t key, size_t a, size_t b) const {
    for (size_t earlier = 0; earlier < key; ++earlier) {
      if (compare(order_.keys[earlier], call_.at(a), call_.at(b), mappings_) != 0) return false;
    }
    return true;
  }

  uint64_t word(size_t key, size_t index) const {
    return with_reader(order_.keys[key], 0, mappings_,
                       [&](auto&& read) { return read(call_.at(index)); });
  }
  uint64_t first_word(size_t index) const { return word(0, index); }
  // Whether the keys leave open which of two neighbours comes first.
  bool ties(size_t a, size_t b) const {
    const Key& key = order_.keys[0];
    if (key.type == KeyType::collated) {
      return same_letters(words::load<const std::byte*>(call_.at(a) + key.offset),
                          words::load<const std::byte*>(call_.at(b) + key.offset), mappings_);
    }
    return compare(order_, call_.at(a), call_.at(b), mappings_) == 0;
  }

  // Whether element i, which equals the next one, stood in front of it in the input.
  bool in_order_of_input(size_t i) const {
    if (sorted_.entries != nullptr && original_is_stable_ && i >= run_end_) {
      const uint64_t mask = sorted_.index_mask;
      return (sorted_.entries[i] & mask) < (sorted_.entries[i + 1] & mask);
    }
    if (i + 1 < run_end_) return true;
    return std::memcmp(call_.at(i), call_.at(i + 1), call_.size) == 0;
  }

  // Sorts the run that elements i and i + 1, which are in the wrong order, belong to.
  bool sort_run(size_t& i) {
    if (i < run_end_ || !original_is_stable_ || !ties(i, i + 1)) return false;
    size_t start = i;
    while (start > run_end_ && ties(start - 1, start)) --start;
    size_t end = i + 2;
    while (end < call_.count && ties(end - 1, end)) ++end;
    original_(call_.at(start), end - start, call_.size, call_.compare, call_.context);
    run_end_ = end;
    // What is in front of the run was judged against an element that has moved.
    if (start > 0 && call_.ask(start - 1, start) >= 0) return false;
    i = end - 2;
    return true;
  }

  const Call& call_;
  const Order& order_;
  const Mappings& mappings_;
  const Sorted& sorted_;
  hoist_qsort_r* const original_;
  const bool original_is_stable_;
  // The end of the last run that the original sorted: in front of it entries no longer tell which
  // element is where.
  size_t run_end_ = 0;
};

}  // namespace

bool judge(const Call& call, const Order& order, const Mappings& mappings, const Sorted& sorted,
           hoist_qsort_r* original, bool original_is_stable) {
  Judge judge(call, order, mappings, sorted, original, original_is_stable);
  return judge.far_apart_agree() && judge.neighbours_agree();
}

}  // namespace hoist::qsort
