#include "python/match_bulk.h"

#include <algorithm>
#include <functional>
#include <new>

#include "match/segment_view.h"

namespace hoist::python {
namespace {

Error named(Error error, size_t pattern) {
  error.message = "pattern " + std::to_string(pattern) + ": " + error.message;
  return error;
}

Status go_on(const std::stop_token& stop) {
  return stop.stop_requested() ? fail(ErrorCode::cancelled, "stopped as asked") : Status();
}

// Calls `learn_next` for each, as a bulk where that pays or where nothing else can learn.
Status learn_each(match::Index& index, std::mutex& bulk, size_t count, const std::stop_token& stop,
                  const std::function<Status(size_t)>& learn_next) {
  // Before `bulk` is locked, which in a child may be by a thread that is not there.
  if (Status here = index.check_process(); !here) return here;
  const auto learn_them = [&]() -> Status {
    for (size_t i = 0; i < count; ++i) {
      if (Status wanted = go_on(stop); !wanted) return wanted;
      if (Status done = learn_next(i); !done) return named(done.error(), i);
    }
    return {};
  };
  if (count < kBulkPatterns && !index.stats().search_only) return learn_them();
  const std::lock_guard lock(bulk);
  if (Status begun = index.begin_bulk(); !begun) return begun;
  Status learned;
  try {
    learned = learn_them();
  } catch (const std::bad_alloc&) {  // the bulk must end
    learned = fail(ErrorCode::exhausted, "no memory for what is to be learned");
  }
  const Status ended = index.end_bulk();
  return learned ? ended : learned;
}

Status check_offsets(const std::vector<int64_t>& offsets, uint64_t size) {
  if (offsets.empty()) return fail(ErrorCode::invalid_argument, "no offsets: one at least");
  const bool ascend = std::is_sorted(offsets.begin(), offsets.end());
  if (ascend && offsets.front() >= 0 && static_cast<uint64_t>(offsets.back()) <= size) return {};
  return fail(ErrorCode::invalid_argument,
              "offsets that do not ascend from 0 or more to " + std::to_string(size) + " at most");
}

}  // namespace

Result<std::vector<std::string>> learn_all(match::Index& index, std::mutex& bulk,
                                           std::span<match::PatternText> patterns,
                                           std::span<const BulkPattern> options,
                                           const std::stop_token& stop) {
  const bool sort = index.stats().settings.sort;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (Status wanted = go_on(stop); !wanted) return wanted.error();
    Status ready = match::normalise(patterns[i], sort);
    if (ready) ready = match::check_learnable(patterns[i]);
    if (!ready) return named(ready.error(), i);
  }
  std::vector<std::string> names;
  names.reserve(patterns.size());
  Status done = learn_each(index, bulk, patterns.size(), stop, [&](size_t i) -> Status {
    const BulkPattern& option = options[i];
    auto learned = index.learn(patterns[i], {.name = option.name,
                                             .frequency = option.frequency,
                                             .emotives = option.emotives,
                                             .metadata = option.metadata});
    patterns[i] = match::PatternText();
    if (!learned) return learned.error();
    names.push_back(std::move(learned->name));
    return {};
  });
  if (!done) return done.error();
  return names;
}

Status ArrayPatterns::check() const {
  if (has_events_) {
    if (Status good = check_offsets(event_offsets_, symbols_->size()); !good) return good;
  }
  const uint64_t events = has_events_ ? event_offsets_.size() - 1 : symbols_->size();
  if (Status good = check_offsets(offsets_, events); !good) return good;
  if (!frequencies_.empty() && frequencies_.size() != offsets_.size() - 1) {
    return fail(ErrorCode::invalid_argument, "as many frequencies as patterns are needed");
  }
  return {};
}

Result<bool> ArrayPatterns::learn_one(match::Index& index, size_t pattern) const {
  match::PatternText text;
  std::vector<std::string> made;
  const auto first_symbol = [&](int64_t event) {
    return static_cast<uint64_t>(has_events_ ? event_offsets_[static_cast<size_t>(event)] : event);
  };
  const int64_t begin = offsets_[pattern];
  const int64_t end = offsets_[pattern + 1];
  const uint64_t count = first_symbol(end) - first_symbol(begin);
  if (count > match::kMaxPatternLength) {  // before there is room for them
    return fail(ErrorCode::invalid_argument, std::to_string(count) + " symbols: at most " +
                                                 std::to_string(match::kMaxPatternLength));
  }
  made.resize(count);
  for (int64_t event = begin; event < end; ++event) {
    for (uint64_t at = first_symbol(event); at < first_symbol(event + 1); ++at) {
      const auto symbol = symbols_->at(at, made[text.tokens.size()]);
      if (!symbol) return symbol.error();
      text.tokens.push_back(*symbol);
    }
    text.end_event();
  }
  const uint32_t frequency = frequencies_.empty() ? 1 : frequencies_[pattern];
  const auto learned = index.learn(text, {.frequency = frequency});
  if (!learned) return learned.error();
  return learned->is_new;
}

Result<uint64_t> learn_all(match::Index& index, std::mutex& bulk,
                           std::span<const ArrayPatterns* const> parts,
                           const std::stop_token& stop) {
  size_t patterns = 0;
  for (const ArrayPatterns* const part : parts) {
    if (Status good = part->check(); !good) return good.error();
    patterns += part->size();
  }
  uint64_t added = 0;
  size_t part = 0;
  size_t before = 0;  // patterns of the parts before it
  Status done = learn_each(index, bulk, patterns, stop, [&](size_t i) -> Status {
    while (i - before == parts[part]->size()) before += parts[part++]->size();
    const auto is_new = parts[part]->learn_one(index, i - before);
    if (!is_new) return is_new.error();
    added += *is_new ? 1 : 0;
    return {};
  });
  if (!done) return done.error();
  return added;
}

}  // namespace hoist::python
