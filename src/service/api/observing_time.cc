#include "service/api/observing_time.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace hoist::service {
namespace {

// About as many microseconds as are left before a request takes long.
class Budget {
 public:
  void take(size_t microseconds) { left_ -= std::min(left_, microseconds); }
  void take(size_t times, size_t microseconds) {
    const bool is_spent = microseconds > 0 && times > left_ / microseconds;
    left_ = is_spent ? 0 : left_ - times * microseconds;
  }
  void take_all() { left_ = 0; }
  bool is_spent() const { return left_ == 0; }
  size_t spent() const { return kMost - left_; }

 private:
  static constexpr size_t kMost = 2000;
  size_t left_ = kMost;
};

constexpr size_t kObservation = 2;
constexpr size_t kLearning = 10;
constexpr size_t kVector = 5;  // its name, when it is learned
constexpr size_t kSymbolsPerMicrosecond = 16;
constexpr size_t kNumbersPerMicrosecond = 1000;  // of vectors that are compared
constexpr size_t kBytesPerMicrosecond = 256;     // of metadata
constexpr size_t kEmotivesPerMicrosecond = 4;    // that are averaged
constexpr size_t kAffinity = 2;

// As text, a value at a time; no further than the budget goes.
void take_metadata(const Json& value, Budget& budget) {
  budget.take(1);
  if (value.is_string()) {
    budget.take(value.get_ref<const std::string&>().size() / kBytesPerMicrosecond);
  }
  if (!value.is_structured()) return;
  for (const Json& inner : value) {
    if (budget.is_spent()) return;
    take_metadata(inner, budget);
  }
}

size_t symbols_of(const std::vector<Event>& events) {
  size_t symbols = 0;
  for (const Event& event : events) symbols += event.size();
  return symbols;
}

// What one learning adds to the pattern's own time: all that the session holds for it, and what the
// observations bring.
class Learning {
 public:
  explicit Learning(const Session& session) : session_(session) {
    add_symbols(symbols_of(session.stm.values()));
    for (const match::Emotives& emotives : session.emotives.values()) add_emotives(emotives);
    has_metadata_ = !session.metadata_seen.empty();
  }
  void add_symbols(size_t count) { symbols_ += count; }
  void add_emotives(const match::Emotives& emotives) {
    count_ += emotives.size();
    if (!emotives.empty()) emotives_.push_back(&emotives);
  }
  void add_metadata(const Json& metadata) {
    has_metadata_ = has_metadata_ || !metadata.empty();
    metadata_.push_back(&metadata);
  }
  void take(const Node& node, Budget& budget) const {
    if (node.is_held_long() || (has_metadata_ && node.has_large_metadata())) budget.take_all();
    budget.take(symbols_ / kSymbolsPerMicrosecond);
    budget.take(session_.vectors.size(), kVector);
    budget.take(count_ / kEmotivesPerMicrosecond);
    for (const Json& object : session_.metadata_seen.values()) take_metadata(object, budget);
    for (const Json* object : metadata_) take_metadata(*object, budget);
    if (!budget.is_spent()) budget.take(different_emotives() * symbols_, kAffinity);
  }

 private:
  // Few by then: the budget has room for them.
  size_t different_emotives() const {
    std::unordered_set<std::string_view> names;
    for (const match::Emotives* emotives : emotives_) {
      for (const auto& [name, value] : *emotives) names.insert(name);
    }
    return names.size();
  }

  const Session& session_;
  size_t symbols_ = 0;
  size_t count_ = 0;  // of emotives, not all of them different
  bool has_metadata_ = false;
  std::vector<const match::Emotives*> emotives_;
  std::vector<const Json*> metadata_;
};

void take_observation(const Observation& observation, const Node& node, Budget& budget) {
  budget.take(kObservation + observation.strings.size() / kSymbolsPerMicrosecond);
  if (observation.vectors.empty()) return;
  budget.take(kVector + node.vector_numbers() / kNumbersPerMicrosecond);
  for (const std::vector<double>& vector : observation.vectors) {
    budget.take(vector.size() / kNumbersPerMicrosecond);
  }
}

// How often a sequence of so many learns, at most.
size_t learnings(const ObservationSequence& sequence, const Session& session) {
  const size_t count = sequence.observations.size();
  const size_t full = session.config.max_pattern_length();
  if (sequence.learn_after_each || (full > 0 && session.config.is_rolling())) return count;
  return (full > 0 ? count / full + 1 : 0) + (sequence.learn_at_end ? 1 : 0);
}

}  // namespace

bool may_learn(const Session& session) {
  return symbols_of(session.stm.values()) >= match::kMinPatternTokens;
}

bool may_learn(const Observation&, const Session& session) {
  const size_t full = session.config.max_pattern_length();
  return full > 0 && session.stm.size() + 1 >= full;
}

bool may_learn(const ObservationSequence& sequence, const Session& session) {
  const size_t full = session.config.max_pattern_length();
  return sequence.learn_after_each || sequence.learn_at_end ||
         (full > 0 && session.stm.size() + sequence.observations.size() >= full);
}

bool learning_takes_long(const Session& session, const Node& node) {
  Budget budget;
  Learning(session).take(node, budget);
  return budget.is_spent();
}

bool takes_long(const Observation& observation, const Session& session, const Node& node) {
  Budget budget;
  take_observation(observation, node, budget);
  if (!may_learn(observation, session)) return budget.is_spent();
  Learning learning(session);
  learning.add_symbols(observation.strings.size());
  learning.add_emotives(observation.emotives);
  learning.add_metadata(observation.metadata);
  learning.take(node, budget);
  return budget.is_spent();
}

bool takes_long(const ObservationSequence& sequence, const Session& session, const Node& node) {
  Budget budget;
  for (const Observation& observation : sequence.observations) {
    if (budget.is_spent()) return true;
    take_observation(observation, node, budget);
  }
  const size_t times = learnings(sequence, session);
  if (times == 0) return budget.is_spent();
  Budget each;
  each.take(kLearning);
  Learning learning(session);  // of what all observations bring
  for (const Observation& observation : sequence.observations) {
    learning.add_symbols(observation.strings.size());
    learning.add_emotives(observation.emotives);
    learning.add_metadata(observation.metadata);
  }
  learning.take(node, each);
  if (each.is_spent()) return true;
  budget.take(times, each.spent());
  return budget.is_spent();
}

}  // namespace hoist::service
