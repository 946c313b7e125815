#include "ops/qsort/infer.h"

#include <algorithm>

namespace hoist::qsort {
namespace {

constexpr size_t kFirstPairs = 24;
constexpr size_t kNeighbours = 12;  // that are asked about in a round, and as many ties
constexpr int kMostRounds = 8;
constexpr size_t kElementsPerSample = 64;

constexpr const char* kNotUnderstood = "comparator not understood";
constexpr const char* kContradicts = "comparator contradicts itself";

int sign_of(int value) { return (value > 0) - (value < 0); }

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014). The same for every
// call, so that its cost and its choices reproduce.
uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

void Inference::start(const Call& call) {
  call_ = &call;
  random_ = call.count;
  answer_count_ = 0;
  mapped_ = false;
  // One element out of each stretch of the array.
  sampled_ = std::clamp<size_t>(call.count / kElementsPerSample, std::min<size_t>(call.count, 256),
                                kMostSampled);
  for (size_t i = 0; i < sampled_; ++i) {
    const size_t start = call.count * i / sampled_;
    const size_t end = call.count * (i + 1) / sampled_;
    sample_[i].index = static_cast<uint32_t>(start + next_random(random_) % (end - start));
  }
}

bool Inference::ask(size_t a, size_t b) {
  if (a > b) std::swap(a, b);
  const bool known =
      std::any_of(answers_.begin(), answers_.begin() + answer_count_,
                  [=](const Answer& answer) { return answer.a == a && answer.b == b; });
  if (a == b || known || answer_count_ == kMostAnswers) return true;
  const int sign = sign_of(call_->ask(a, b));
  std::swap_ranges(call_->at(a), call_->at(a) + call_->size, call_->at(b));
  const int swapped = sign_of(call_->ask(a, b));
  std::swap_ranges(call_->at(a), call_->at(a) + call_->size, call_->at(b));
  answers_[answer_count_++] = {static_cast<uint32_t>(a), static_cast<uint32_t>(b), sign};
  return sign == -swapped;
}

bool Inference::ask_first_pairs() {
  for (size_t i = 0; i < kFirstPairs; ++i) {
    const size_t a = sample_[next_random(random_) % sampled_].index;
    const size_t b = sample_[next_random(random_) % sampled_].index;
    if (!ask(a, b)) return false;
  }
  return true;
}

bool Inference::build(Order& order) {
  order.count = 0;
  while (order.count < Order::kMostKeys) {
    const size_t known = order.count;
    find_key(order);
    if (rival_count_ > 0) order.keys[order.count++] = rivals_[0].key;
    const bool open =
        std::any_of(answers_.begin(), answers_.begin() + answer_count_, [&](const Answer& answer) {
          return answer.sign != 0 &&
                 compare(order, call_->at(answer.a), call_->at(answer.b), mappings_) == 0;
        });
    if (!open) return true;
    // What strcoll() leaves equal is next to nothing: no key is looked for behind it.
    if (order.count == known || order.keys[0].type == KeyType::collated) return false;
  }
  return false;
}

void Inference::sort_sample(const Order& order) {
  with_reader(order.keys[0], 0, mappings_, [&](auto&& read) {
    for (size_t i = 0; i < sampled_; ++i) sample_[i].word = read(call_->at(sample_[i].index));
  });
  std::sort(sample_.begin(), sample_.begin() + sampled_, [&](const Sampled& a, const Sampled& b) {
    if (a.word != b.word) return a.word < b.word;
    const int result = compare(order, call_->at(a.index), call_->at(b.index), mappings_);
    return result != 0 ? result < 0 : a.index < b.index;
  });
}

bool Inference::probe_neighbours(const Order& order) {
  size_t ties = 0;
  size_t others = 0;
  const size_t step = std::max<size_t>(1, sampled_ / (4 * kNeighbours));
  for (size_t i = next_random(random_) % step; i + 1 < sampled_; i += step) {
    const size_t a = sample_[i].index;
    const size_t b = sample_[i + 1].index;
    const bool tie = compare(order, call_->at(a), call_->at(b), mappings_) == 0;
    if ((tie ? ties : others)++ < kNeighbours && !ask(a, b)) return false;
  }
  // Where the order holds few elements for equal, these say most.
  for (size_t i = 0; ties < kNeighbours && i + 1 < sampled_; ++i) {
    if (sample_[i].word != sample_[i + 1].word) continue;
    const size_t a = sample_[i].index;
    const size_t b = sample_[i + 1].index;
    if (compare(order, call_->at(a), call_->at(b), mappings_) != 0) continue;
    ++ties;
    if (!ask(a, b)) return false;
  }
  return true;
}

// The rivals are those for the last key.
bool Inference::probe_rivals(const Order& order) {
  for (size_t r = 1; r < rival_count_; ++r) {
    Order other = order;
    other.keys[order.count - 1] = rivals_[r].key;
    for (size_t i = 0; i + 1 < sampled_; ++i) {
      const std::byte* a = call_->at(sample_[i].index);
      const std::byte* b = call_->at(sample_[i + 1].index);
      const int theirs = compare(other, a, b, mappings_);
      if (theirs == 0 || (theirs < 0) == (compare(order, a, b, mappings_) < 0)) continue;
      if (!ask(sample_[i].index, sample_[i + 1].index)) return false;
      break;
    }
  }
  return true;
}

bool Inference::probe(const Order& order) {
  sort_sample(order);
  return probe_neighbours(order) && probe_rivals(order);
}

bool Inference::foreseen(const Order& order, size_t first) const {
  return std::all_of(
      answers_.begin() + first, answers_.begin() + answer_count_, [&](const Answer& answer) {
        const int ours = compare(order, call_->at(answer.a), call_->at(answer.b), mappings_);
        return sign_of(ours) == answer.sign;
      });
}

// Elements that only the comparator can tell apart are left to the original's sort, which pays
// while they are few. The sample is sorted by `order`.
bool Inference::few_ties(const Order& order) const {
  size_t ties = 0;
  for (size_t i = 0; i + 1 < sampled_; ++i) {
    ties += compare(order, call_->at(sample_[i].index), call_->at(sample_[i + 1].index),
                    mappings_) == 0;
  }
  return ties <= sampled_ / 16;
}

const char* Inference::infer(const Call& call, Order& order) {
  start(call);
  if (!ask_first_pairs()) return kContradicts;
  bool complete = false;
  for (int round = 0; round < kMostRounds && !complete; ++round) {
    const bool explains_all = build(order);
    if (order.count == 0) return kNotUnderstood;
    const size_t known = answer_count_;
    if (!probe(order)) return kContradicts;
    complete = explains_all && foreseen(order, known);
    if (answer_count_ == known) break;  // nothing is left to ask
  }
  if (complete) return nullptr;
  // All that may be missing is a further key.
  build(order);
  if (order.count == 0) return kNotUnderstood;
  sort_sample(order);
  return few_ties(order) ? nullptr : kNotUnderstood;
}

}  // namespace hoist::qsort
