// Learning: first all that may refuse it, then what is written, and then what is in memory.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "base/bytes_text.h"
#include "match/vocabulary/pattern.h"
#include "service/node/node.h"
#include "service/node/node_keys.h"

namespace hoist::service {
namespace {

constexpr size_t kMostAffinities = 1'000'000;
constexpr size_t kMostAffinityNames = 64 << 20;  // bytes
constexpr size_t kLarge = 64 << 10;              // bytes that take long to learn

size_t tokens_of(const std::vector<Event>& events) {
  size_t tokens = 0;
  for (const Event& event : events) tokens += event.size();
  return tokens;
}

std::set<std::string_view> symbols_of(const std::vector<Event>& events) {
  std::set<std::string_view> symbols;
  for (const Event& event : events) symbols.insert(event.begin(), event.end());
  return symbols;
}

}  // namespace

// One that is under way, with what takes no lock to know.
struct Node::Learning {
  Learning(const PatternRecord& what, std::span<const std::vector<double>> observed)
      : record(what),
        pattern(match::pattern_of(what.events)),
        averages(average(what.emotives)),
        vectors(Vectors::named(observed)) {
    if (!averages.empty()) symbols = symbols_of(record.events);
  }

  std::string name() const {
    return record.name.empty() ? match::pattern_name(pattern) : record.name;
  }
  // Each symbol stands beside each emotive.
  size_t affinities() const { return symbols.size() * averages.size(); }
  size_t affinity_names() const {
    size_t bytes = 0;
    for (const std::string_view symbol : symbols) bytes += symbol.size() * averages.size();
    for (const auto& [emotive, average] : averages) bytes += emotive.size() * symbols.size();
    return bytes;
  }
  bool is_large() const {
    constexpr size_t kAffinity = 32;
    size_t bytes = metadata_bytes(record.metadata) + affinities() * kAffinity + affinity_names();
    for (const std::string_view token : pattern.tokens) bytes += token.size();
    for (const Vectors::Named& vector : vectors) bytes += vector.numbers.size_bytes();
    return bytes > kLarge;
  }
  // Without metadata, emotives and vectors learnings need not wait for one another.
  bool is_alone() const {
    return !record.metadata.empty() || !averages.empty() || !vectors.empty();
  }
  Status check() const;

  const PatternRecord& record;
  match::PatternText pattern;
  match::Emotives averages;
  std::set<std::string_view> symbols;  // different ones; none without emotives
  std::vector<Vectors::Named> vectors;
};

// Texts of metadata.
struct Node::MergedMetadata {
  std::string before;
  std::string after;
};

Status Node::Learning::check() const {
  if (affinities() <= kMostAffinities && affinity_names() <= kMostAffinityNames) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} different symbols with {} different emotives are {} affinities: at "
                          "most {} are learned at once, and {} of their names. Learn fewer "
                          "symbols, or clear short-term memory and observe fewer emotives",
                          symbols.size(), averages.size(), affinities(), kMostAffinities,
                          bytes_text(kMostAffinityNames)));
}

Result<std::string> Node::learn(const std::vector<Event>& events,
                                const match::EmotiveList& emotives, const PatternMetadata& metadata,
                                std::span<const std::vector<double>> vectors) {
  if (tokens_of(events) < match::kMinPatternTokens) {
    if (Status stored = learn_vectors(vectors); !stored) return stored.error();
    return std::string();
  }
  PatternRecord record;
  record.events = events;
  record.emotives = emotives;
  record.metadata = metadata;
  Learning learning(record, vectors);
  return learn(learning);
}

Status Node::learn(const PatternRecord& record) {
  Learning learning(record, {});
  const auto name = learn(learning);
  return name ? Status() : name.error();
}

// What is large is merged before any lock is taken.
Result<std::string> Node::learn(Learning& learning) {
  if (Status fits = learning.check(); !fits) return fits.error();
  auto merged = merge_ahead(learning);
  if (!merged) return merged.error();
  std::optional<LongHold> hold;
  if (merged->has_value() || learning.is_large()) hold.emplace(*this);
  const std::shared_lock with_others(replacing_);
  if (removed_) return removed();
  if (Status certain = check_certain(); !certain) return certain.error();
  std::unique_lock lock(learning_, std::defer_lock);
  if (learning.is_alone()) lock.lock();
  return learn_locked(learning, *std::move(merged));
}

Result<std::string> Node::learn_locked(Learning& learning, std::optional<MergedMetadata> merged) {
  const std::shared_ptr<Contents> contents = this->contents();
  const auto index = index_to_learn_in(*contents);
  if (!index) return index.error();
  if (!learning.record.metadata.empty()) {
    // Others may have learned the pattern since.
    auto now = merge(*contents, *index, learning, std::move(merged));
    if (!now) return now.error();
    merged = *std::move(now);
  }
  const Affinities::Change change =
      contents->affinities.change(learning.symbols, learning.averages);
  const auto missing = contents->vectors.missing(std::move(learning.vectors));
  const uint64_t more = change.memory + Vectors::memory_of(missing);
  if (Status fits = check_memory(*contents, *index, learning, more); !fits) return fits.error();

  if (Status written = write_vectors(*contents, missing); !written) return written.error();
  match::LearnOptions options;
  options.name = learning.record.name;
  options.frequency = learning.record.frequency;
  options.more_emotives = learning.record.emotives;
  if (merged) options.metadata = merged->after;
  auto learned = (*index)->learn(learning.pattern, options);
  if (!learned) return learned.error();
  if (Status written = write_affinities(*contents, change); !written) return written.error();
  return std::move(learned->name);
}

// `ahead` is what it becomes unless the pattern was learned since.
Result<Node::MergedMetadata> Node::merge(Contents& contents, const match::Index* index,
                                         const Learning& learning,
                                         std::optional<MergedMetadata> ahead) {
  MergedMetadata merged;
  if (index != nullptr) {
    auto before = index->metadata(learning.name());
    if (!before && before.error().code != ErrorCode::not_found) return before.error();
    if (before) merged.before = *std::move(before);
  }
  if (ahead && ahead->before == merged.before) return *std::move(ahead);
  auto after = merge_metadata(merged.before, learning.record.metadata);
  if (std::max(merged.before.size(), after ? after->size() : 0) > kLarge) {
    contents.has_large_metadata = true;
  }
  if (!after) return after.error();
  merged.after = *std::move(after);
  return merged;
}

// Nothing where it does not take long.
Result<std::optional<Node::MergedMetadata>> Node::merge_ahead(const Learning& learning) const {
  const PatternMetadata& metadata = learning.record.metadata;
  const std::shared_ptr<Contents> contents = this->contents();
  if (metadata.empty() || (!contents->has_large_metadata && metadata_bytes(metadata) <= kLarge)) {
    return std::optional<MergedMetadata>();
  }
  auto merged = merge(*contents, index_of(contents).get(), learning, std::nullopt);
  if (!merged) return merged.error();
  return std::optional(*std::move(merged));
}

// The index counts its own alone. What is known, and brings nothing new, is learned in any case.
Status Node::check_memory(const Contents& contents, const match::Index* index,
                          const Learning& learning, uint64_t more) const {
  if (options_.max_memory == UINT64_MAX) return {};
  const uint64_t beside = contents.affinities.memory() + contents.vectors.memory();
  if (beside + more == 0) return {};
  const uint64_t used = (index != nullptr ? index->memory() : 0) + beside + more;
  if (used <= options_.max_memory) return {};
  if (more == 0 && index != nullptr && index->contains(learning.name())) return {};
  return fail(ErrorCode::exhausted,
              fmt::format("node {} would take {} of memory, {} of it for affinities and vectors: "
                          "{} are allowed (--max-memory)",
                          id_, bytes_text(used), bytes_text(beside + more),
                          bytes_text(options_.max_memory)));
}

Status Node::learn_vectors(std::span<const std::vector<double>> vectors) {
  if (vectors.empty()) return {};
  const PatternRecord none;
  Learning learning(none, vectors);
  std::optional<LongHold> hold;
  if (learning.is_large()) hold.emplace(*this);
  const std::shared_lock with_others(replacing_);
  if (removed_) return removed();
  if (Status certain = check_certain(); !certain) return certain;
  const std::lock_guard lock(learning_);
  const std::shared_ptr<Contents> contents = this->contents();
  const auto missing = contents->vectors.missing(std::move(learning.vectors));
  if (missing.empty()) return {};
  const std::shared_ptr<match::Index> index = index_of(contents);
  const uint64_t more = Vectors::memory_of(missing);
  if (Status fits = check_memory(*contents, index.get(), learning, more); !fits) return fits;
  return write_vectors(*contents, missing);
}

Status Node::write_vectors(Contents& contents, const std::vector<Vectors::Named>& missing) {
  if (missing.empty()) return {};
  SideStore::Batch batch;
  const std::string node = keys::kVector + node_key_part(contents.number);
  for (const Vectors::Named& vector : missing) {
    batch.put(node + vector.name,
              {reinterpret_cast<const char*>(vector.numbers.data()), vector.numbers.size_bytes()});
  }
  if (Status written = store_.write(batch); !written) return written;
  for (const Vectors::Named& vector : missing) contents.vectors.add(vector.name, vector.numbers);
  return {};
}

Status Node::write_affinities(Contents& contents, const Affinities::Change& change) {
  if (change.sums.empty()) return {};
  SideStore::Batch batch;
  const std::string node = keys::kAffinity + node_key_part(contents.number);
  auto sum = change.sums.begin();
  for (const std::string_view symbol : change.symbols) {
    const std::string prefix = node + key_part(symbol);
    for (const std::string_view emotive : change.emotives) {
      std::string value(sizeof *sum, '\0');
      std::memcpy(value.data(), &*sum++, sizeof *sum);
      batch.put(prefix + std::string(emotive), value);
    }
  }
  if (Status written = store_.write(batch); !written) return written;
  contents.affinities.apply(change);
  return {};
}

// What was kept once is kept again, whatever is refused now.
Result<std::string> Node::learn_restored(Contents& contents, const PatternRecord& record) {
  match::PatternText pattern = match::pattern_of(record.events);
  match::LearnOptions options;
  options.name = record.name;
  options.frequency = record.frequency;
  options.more_emotives = record.emotives;
  std::string metadata;
  if (!record.metadata.empty()) {
    const auto before =
        contents.index->metadata(record.name.empty() ? match::pattern_name(pattern) : record.name);
    auto merged = merge_metadata(before ? *before : std::string(), record.metadata, SIZE_MAX);
    if (!merged) return merged.error();
    metadata = *std::move(merged);
    if (metadata.size() > kLarge) contents.has_large_metadata = true;
    options.metadata = metadata;
  }
  auto learned = contents.index->learn(pattern, options);
  if (!learned) return learned.error();
  return std::move(learned->name);
}

}  // namespace hoist::service
