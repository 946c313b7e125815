// Finds out what a comparator compares, by asking it about a sample.
//
// Hypotheses are keys (ops/qsort/key.h) at every place of the element. Evidence is a list of pairs
// with the comparator's answers. From all hypotheses that no answer contradicts the one that
// explains most is taken, then a second and a third key for the pairs that those in front of it
// leave equal. The sample, sorted by this order, shows where to ask next: neighbours, elements that
// the order holds for equal, and pairs about which hypotheses of the same merit disagree. It ends
// when all new answers were foreseen.
//
// A wrong guess costs time, not answers: the sorted array is judged by the comparator. So where
// hypotheses cannot be told apart, the order of preference is for those whose failure is cheap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/qsort/call.h"
#include "ops/qsort/key.h"

namespace hoist::qsort {

// A large object that allocates nothing: it may be abandoned at each question.
class Inference {
 public:
  // Null and `order`, or why the comparator is not understood. Asks some hundred times, each pair
  // of elements twice: as it is, and with the two elements swapped in the array. What depends on
  // addresses rather than on content gives itself away by that.
  const char* infer(const Call& call, Order& order);

  // As they were when strings were looked for.
  const Mappings& mappings() const { return mappings_; }

 private:
  struct Answer {
    uint32_t a;
    uint32_t b;
    int sign;
  };
  struct Sampled {
    uint64_t word;  // the first key's first
    uint32_t index;
  };
  struct Hypothesis {
    Key key;
    uint64_t merit;
  };
  static constexpr size_t kMostAnswers = 512;
  static constexpr size_t kMostSampled = 8192;
  static constexpr size_t kMostRivals = 8;

  void start(const Call& call);
  bool ask(size_t a, size_t b);
  bool ask_first_pairs();

  // Builds `order` from the evidence. False where the evidence has more to it.
  bool build(Order& order);
  void find_key(const Order& so_far);
  void consider(Key key, size_t pairs);
  size_t explained(Key& key, size_t pairs) const;
  void consider_numbers(bool aligned, size_t pairs);
  void consider_texts(size_t pairs);
  void consider_strings(size_t pairs);
  bool leads_to_memory(size_t offset);
  template <size_t kSize, typename Compare>
  bool strings_agree(size_t offset, size_t pairs, Compare&& compare) const;
  bool may_be_strings(size_t offset, size_t pairs) const;
  void consider_collated(size_t pairs);
  bool may_be_collated(size_t offset, size_t pairs) const;
  bool is_plausible(const Key& key) const;

  void sort_sample(const Order& order);
  // Asks where `order` is most likely to fail. False where the comparator contradicts itself.
  bool probe(const Order& order);
  bool probe_neighbours(const Order& order);
  bool probe_rivals(const Order& order);
  // Whether the answers from number `first` on are those that `order` gives.
  bool foreseen(const Order& order, size_t first) const;
  bool few_ties(const Order& order) const;

  const Call* call_;
  uint64_t random_;
  std::array<Answer, kMostAnswers> answers_;
  size_t answer_count_;
  // Indices of the answers that the keys so far leave open.
  std::array<uint32_t, kMostAnswers> open_;
  std::array<Sampled, kMostSampled> sample_;
  size_t sampled_;
  // The best hypotheses for the key that is looked for, best first.
  std::array<Hypothesis, kMostRivals> rivals_;
  size_t rival_count_;
  bool mapped_;
  Mappings mappings_;
};

}  // namespace hoist::qsort
