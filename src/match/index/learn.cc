#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/bytes_text.h"
#include "base/utf8.h"
#include "match/index/index_state.h"

namespace hoist::match {
namespace {

// Appends what was learned to the rolling list, which keeps the latest `most`.
void append_emotives(EmotiveList& list, const LearnOptions& learned, size_t most) {
  if (!learned.emotives.empty()) list.push_back(learned.emotives);
  list.insert(list.end(), learned.more_emotives.begin(), learned.more_emotives.end());
  if (list.size() > most) list.erase(list.begin(), list.end() - static_cast<ptrdiff_t>(most));
}

uint32_t saturating_sum(uint32_t a, uint32_t b) {
  return a + std::min(std::numeric_limits<uint32_t>::max() - a, b);
}

}  // namespace

Error no_pattern(std::string_view name) {
  return fail(ErrorCode::not_found,
              fmt::format("no pattern {} (in the index): a search gives the names", name));
}

Status GroupFlush::flush(Store& store) {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++wanted_;
  while (flushed_ < mine) {
    if (busy_) {
      done_.wait(lock);
      continue;
    }
    busy_ = true;
    const uint64_t reached = wanted_;
    lock.unlock();
    Status flushed = store.flush_log();
    lock.lock();
    busy_ = false;
    if (flushed) flushed_ = reached;
    done_.notify_all();
    if (!flushed) return flushed;
  }
  return {};
}

Status Index::check_process() const { return state_->check_process(); }

Result<Learned> Index::learn(const std::vector<std::vector<std::string>>& events,
                             const LearnOptions& options) {
  PatternText pattern = pattern_of(events);
  return learn(pattern, options);
}

Result<Learned> Index::learn(PatternText& pattern, const LearnOptions& options) {
  if (Status owned = state_->check_process(); !owned) return owned.error();
  if (Status ready = normalise(pattern, state_->settings.sort); !ready) {
    return ready.error();
  }
  const size_t least = options.single_symbols ? 1 : kMinPatternTokens;
  if (Status ready = check_learnable(pattern, least); !ready) return ready.error();
  if (options.name.size() > kMaxNameBytes || !is_utf8(options.name)) {
    return fail(ErrorCode::invalid_argument, fmt::format("a name of {} bytes: at most {}, in UTF-8",
                                                         options.name.size(), kMaxNameBytes));
  }
  if (options.frequency == 0) {
    return fail(ErrorCode::invalid_argument, "a frequency of 0: at least 1");
  }
  const bool in_bulk = state_->bulk;
  Result<Learned> learned = state_->learn(pattern, options);
  if (learned && state_->bulk) {
    if (Status folded = state_->fold_bulk(); !folded) return folded.error();
  }
  // What was logged just before another thread began a bulk is flushed as well.
  const bool may_be_logged = !in_bulk || !state_->bulk;
  if (learned && may_be_logged && state_->store && state_->options.durability == Durability::sync) {
    if (Status flushed = state_->group_flush.flush(*state_->store); !flushed) {
      return flushed.error();
    }
  }
  return learned;
}

// Before any lock is taken.
Status Index::State::check_process() const {
  if (owner.is_current()) return {};
  return fail(
      ErrorCode::unavailable,
      fmt::format("this process is a fork of the one that has the index ({}): learn, remove "
                  "and sync there; here it can be searched",
                  path.empty() ? "in memory" : path));
}

Status Index::State::foreign_store() const {
  return fail(
      ErrorCode::unavailable,
      fmt::format("this process is a fork of the one that has the store open ({}): ask there",
                  path));
}

Status Index::State::check_writable() const {
  if (options.read_only) {
    return fail(ErrorCode::unavailable, fmt::format("the index is open read-only ({})", path));
  }
  if (search_only && !bulk) {
    return fail(ErrorCode::unsupported,
                fmt::format("the index is search-only ({}): build one with a store", path));
  }
  return {};
}

uint64_t Index::State::memory() const {
  uint64_t sum = vocabulary->memory() + stable_memory;
  const auto now = tiers.get();
  for (const auto& recent : now->recent) sum += recent->memory();
  return sum;
}

Status Index::State::check_memory() const {
  if (options.max_memory == UINT64_MAX) return {};
  const uint64_t used = memory();
  if (used <= options.max_memory) return {};
  return fail(ErrorCode::exhausted,
              fmt::format("the index has {} patterns and takes {} of memory ({}): {} are "
                          "allowed, enough for about {} patterns",
                          patterns.load(), bytes_text(used), path.empty() ? "in memory" : path,
                          bytes_text(options.max_memory),
                          static_cast<uint64_t>(static_cast<double>(patterns.load()) *
                                                static_cast<double>(options.max_memory) /
                                                static_cast<double>(used))));
}

std::optional<Place> Index::State::find(const NameKey& name, uint32_t length) const {
  const auto now = tiers.get();
  for (auto recent = now->recent.rbegin(); recent != now->recent.rend(); ++recent) {
    if (const auto at = (*recent)->find(name)) return Place{nullptr, recent->get(), *at};
  }
  for (const auto& segment : now->stable) {
    if (const auto at = segment->find(name, length)) return Place{segment.get(), nullptr, *at};
  }
  return std::nullopt;
}

std::optional<Place> Index::State::find(const NameKey& name) const {
  const auto now = tiers.get();
  for (auto recent = now->recent.rbegin(); recent != now->recent.rend(); ++recent) {
    if (const auto at = (*recent)->find(name)) return Place{nullptr, recent->get(), *at};
  }
  for (const auto& segment : now->stable) {
    if (const auto at = segment->find(name)) return Place{segment.get(), nullptr, *at};
  }
  return std::nullopt;
}

// Without what only the writer may look at, in time in proportion to the recent patterns.
std::optional<Place> Index::State::find_seen(const NameKey& name) const {
  const TierView now = tiers.view();
  for (size_t tier = now.recent_sizes.size(); tier-- > 0;) {
    RecentTier& recent = *now.tiers->recent[tier];
    for (uint32_t i = now.recent_sizes[tier]; i-- > 0;) {
      const Place place{nullptr, &recent, i};
      if (place.frequency() != 0 && compare(place.name(), name) == 0) return place;
    }
  }
  for (const auto& segment : now.tiers->stable) {
    if (const auto at = segment->find(name)) return Place{segment.get(), nullptr, *at};
  }
  return std::nullopt;
}

std::optional<Place> Index::State::find_serial(const NameKey& name, uint32_t length,
                                               uint32_t serial) const {
  const auto now = tiers.get();
  for (const auto& segment : now->stable) {
    const auto at = segment->find(name, length);
    if (at && segment->serial(*at) == serial) return Place{segment.get(), nullptr, *at};
  }
  return std::nullopt;
}

Result<Learned> Index::State::learn(const PatternText& pattern, const LearnOptions& learned) {
  const bool own = !learned.name.empty();
  const std::string text = own ? std::string(learned.name) : pattern_name(pattern);
  const NameKey name(text);
  std::unique_lock lock(writing);
  bulk_ended.wait(lock, [this] { return bulk_endings == 0; });
  if (Status ready = check_writable(); !ready) return ready.error();
  const auto place = own ? find(name) : find(name, static_cast<uint32_t>(pattern.tokens.size()));
  if (!place) return learn_new(pattern, name, learned);
  // A digest may have been given as another pattern's name.
  if (!same_pattern(*place, pattern)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the name {} stands for another pattern: remove that first", text));
  }
  return learn_again(*place, learned);
}

// A pattern of a bulk that the store does not have yet.
bool Index::State::is_for_ingest(const Place& place) const {
  return bulk && place.recent != nullptr && place.serial() >= bulk_serial;
}

bool Index::State::same_pattern(const Place& place, const PatternText& pattern) const {
  if (place.length() != pattern.tokens.size()) return false;
  const std::vector<uint16_t> sizes = event_sizes_of(pattern);
  const auto there = place.event_sizes();
  if (!std::equal(sizes.begin(), sizes.end(), there.begin(), there.end())) return false;
  std::vector<uint32_t> symbols;
  place.read_symbols(symbols);
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (vocabulary->symbol(symbols[i]) != pattern.tokens[i]) return false;
  }
  return true;
}

Result<Learned> Index::State::learn_new(const PatternText& pattern, const NameKey& name,
                                        const LearnOptions& learned) {
  if (Status fits = check_memory(); !fits) return fits.error();
  const uint32_t known = vocabulary->size();
  if (position.serial == std::numeric_limits<uint32_t>::max() ||
      tiers.get()->recent.back()->size() == RecentTier::kMaxPatterns ||
      known > Vocabulary::kMaxSymbols - pattern.tokens.size()) {
    return fail(ErrorCode::exhausted,
                "no further pattern fits (2^32 patterns and symbols, 2^26 patterns between "
                "syncs): sync, or begin another index");
  }
  // New symbols get the ids that they will have once the store has them.
  std::vector<uint32_t> symbols(pattern.tokens.size());
  std::vector<std::string_view> added;
  std::unordered_map<std::string_view, uint32_t> ids_of_added;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (const auto id = vocabulary->find(pattern.tokens[i])) {
      symbols[i] = *id;
      continue;
    }
    const auto next = known + static_cast<uint32_t>(added.size());
    const auto [at, is_new] = ids_of_added.try_emplace(pattern.tokens[i], next);
    symbols[i] = at->second;
    if (is_new) added.push_back(pattern.tokens[i]);
  }
  const std::vector<uint16_t> sizes = event_sizes_of(pattern);
  PatternState state{learned.frequency, {}};
  append_emotives(state.emotives, learned, settings.persistence);
  if (store && !bulk) {
    Status written = store->learn({.serial = position.serial,
                                   .name = name.text,
                                   .symbols = symbols,
                                   .event_sizes = sizes,
                                   .state = &state,
                                   .metadata = learned.metadata},
                                  {known, added});
    if (!written) return written.error();
  } else if (store && !learned.metadata.empty()) {
    bulk_metadata[position.serial] = learned.metadata;
  }
  for (const std::string_view symbol : added) vocabulary->add(symbol);
  append(name, symbols, sizes, position.serial++, state);
  if (!bulk) wake_if_due();
  return Learned{std::string(name.text), learned.frequency, true};
}

void Index::State::append(const NameKey& name, std::span<const uint32_t> symbols,
                          std::span<const uint16_t> event_sizes, uint32_t serial,
                          const PatternState& state) {
  vocabulary->recount(symbols, 0, state.frequency);
  ++patterns;
  frequencies += state.frequency;
  const auto recent = tiers.get()->recent.back();
  if (!state.emotives.empty()) {
    recent->emotives().set(recent->size(), std::make_shared<EmotiveList>(state.emotives));
  }
  recent->append(name, symbols, event_sizes, serial, state.frequency);
}

// Sets the pattern's frequency and emotives, where there are some, and all counts.
void Index::State::set_state(const Place& place, uint32_t frequency,
                             std::shared_ptr<const EmotiveList> emotives) {
  const uint32_t before = place.frequency();
  std::vector<uint32_t> symbols;
  place.read_symbols(symbols);
  vocabulary->recount(symbols, before, frequency);
  frequencies += uint64_t{frequency} - before;
  if (before != 0 && frequency == 0) --patterns;
  note_touched(place);
  place.set(frequency, std::move(emotives));
}

Result<Learned> Index::State::learn_again(const Place& place, const LearnOptions& learned) {
  PatternState state{saturating_sum(place.frequency(), learned.frequency), {}};
  const auto before = place.emotives();
  if (before != nullptr) state.emotives = *before;
  const bool is_felt = !learned.emotives.empty() || !learned.more_emotives.empty();
  append_emotives(state.emotives, learned, settings.persistence);
  const std::string name = place.name_text();
  if (store && is_for_ingest(place)) {
    if (!learned.metadata.empty()) bulk_metadata[place.serial()] = learned.metadata;
  } else if (store) {
    Status written =
        store->update(position.change, {Change::Kind::update, place.serial(), place.length(), name},
                      state, learned.metadata);
    if (!written) return written.error();
    ++position.change;
  }
  set_state(place, state.frequency,
            is_felt ? std::make_shared<EmotiveList>(std::move(state.emotives)) : nullptr);
  return Learned{name, place.frequency(), false};
}

Status Index::remove(std::string_view name) {
  State& own = *state_;
  if (Status owned = own.check_process(); !owned) return owned;
  {
    std::unique_lock lock(own.writing);
    own.bulk_ended.wait(lock, [&own] { return own.bulk_endings == 0; });
    if (Status ready = own.check_writable(); !ready) return ready;
    const auto place = own.find(NameKey(name));
    if (!place) return no_pattern(name);
    if (own.store && !own.is_for_ingest(*place)) {
      Status written = own.store->remove(
          own.position.change,
          {Change::Kind::removal, place->serial(), place->length(), std::string(name)});
      if (!written) return written;
      ++own.position.change;
    }
    own.bulk_metadata.erase(place->serial());
    own.set_state(*place, 0, nullptr);
  }
  if (own.store && own.options.durability == Durability::sync) {
    return own.group_flush.flush(*own.store);
  }
  return {};
}

bool Index::contains(std::string_view name) const {
  if (!state_->owner.is_current()) return state_->find_seen(NameKey(name)).has_value();
  const std::lock_guard lock(state_->writing);
  return state_->find(NameKey(name)).has_value();
}

Result<std::string> Index::metadata(std::string_view name) const {
  if (!state_->owner.is_current()) {
    if (!state_->find_seen(NameKey(name))) return no_pattern(name);
    if (!state_->store) return std::string();
    return state_->foreign_store().error();
  }
  uint32_t serial = 0;
  {
    const std::lock_guard lock(state_->writing);
    const auto place = state_->find(NameKey(name));
    if (!place) return no_pattern(name);
    serial = place->serial();
    const auto waiting = state_->bulk_metadata.find(serial);
    if (waiting != state_->bulk_metadata.end()) return waiting->second;
  }
  if (!state_->store) return std::string();
  return state_->store->read_metadata(serial);
}

}  // namespace hoist::match
