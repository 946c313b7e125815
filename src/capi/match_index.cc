// Opening an index, and changing it.
#include "capi/match_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "capi/status.h"
#include "capi/structs.h"
#include "capi/text.h"

namespace hoist::capi {
namespace {

match::IndexOptions index_options(const hoist_match_open_options& options) {
  match::IndexOptions how;
  how.create = options.create != 0;
  how.read_only = options.read_only != 0;
  how.search_only = options.search_only != 0;
  how.settings.sort = options.keep_order == 0;
  if (options.persistence != 0) how.settings.persistence = options.persistence;
  if (options.survive_power_cut != 0) how.durability = match::Durability::sync;
  if (options.max_memory != 0) how.max_memory = options.max_memory;
  if (options.sync_patterns != 0) how.sync_patterns = options.sync_patterns;
  if (options.sync_seconds != 0) how.sync_interval = std::chrono::seconds(options.sync_seconds);
  if (options.device != nullptr) how.device = options.device;
  if (options.no_automatic_sync != 0) {
    how.sync_patterns = 0;
    how.sync_interval = std::chrono::seconds(0);
  }
  return how;
}

// Ascending by name, as the index wants them.
Result<match::Emotives> emotives_of(const hoist_match_learn_options& options) {
  match::Emotives emotives;
  for (size_t i = 0; i < options.emotives; ++i) {
    if (options.emotive_names == nullptr || options.emotive_names[i] == nullptr ||
        options.emotive_values == nullptr) {
      return fail(ErrorCode::invalid_argument, "emotives: a null pointer");
    }
    const double value = options.emotive_values[i];
    if (!std::isfinite(value) || !is_utf8(options.emotive_names[i])) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("emotive {}: a name in UTF-8 and a finite number", i));
    }
    emotives.emplace_back(options.emotive_names[i], value);
  }
  std::sort(emotives.begin(), emotives.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto twice = std::adjacent_find(emotives.begin(), emotives.end(), same);
  if (twice == emotives.end()) return emotives;
  return fail(ErrorCode::invalid_argument, fmt::format("an emotive twice: {}", twice->first));
}

Result<match::LearnOptions> learn_options(const hoist_match_learn_options& options) {
  match::LearnOptions how;
  if (options.name != nullptr && *options.name == '\0') {
    return fail(ErrorCode::invalid_argument, "an empty name");
  }
  how.name = view_of(options.name);
  if (options.frequency != 0) how.frequency = options.frequency;
  how.metadata = view_of(options.metadata);
  if (!how.metadata.empty() && !nlohmann::json::accept(how.metadata)) {
    return fail(ErrorCode::invalid_argument, "metadata that is no JSON text");
  }
  Result<match::Emotives> emotives = emotives_of(options);
  if (!emotives) return emotives.error();
  how.emotives = std::move(*emotives);
  return how;
}

hoist_match_learned learned_of(const match::Learned& learned, bool named) {
  hoist_match_learned own{};
  own.frequency = learned.frequency;
  own.is_new = learned.is_new ? 1 : 0;
  if (!named) {
    const size_t size = std::min(learned.name.size(), sizeof own.name - 1);
    std::memcpy(own.name, learned.name.data(), size);
  }
  return own;
}

hoist_match_stats stats_of(const match::IndexStats& stats) {
  hoist_match_stats own{};
  own.patterns = stats.patterns;
  own.recent_patterns = stats.recent_patterns;
  own.removed_patterns = stats.removed_patterns;
  own.frequencies = stats.frequencies;
  own.symbols = stats.symbols;
  own.memory = stats.memory;
  own.segments = stats.segments.size();
  own.syncs = stats.syncs;
  own.last_sync_seconds = stats.last_sync_seconds;
  own.persistence = stats.settings.persistence;
  own.keep_order = stats.settings.sort ? 0 : 1;
  own.search_only = stats.search_only ? 1 : 0;
  return own;
}

}  // namespace

Result<match::PatternText> pattern_of(const hoist_match_events* events) {
  constexpr size_t kMostSymbols = 65'535;
  if (Status there = needed(events, "events"); !there) return there.error();
  match::PatternText pattern;
  if (events->events == 0) return pattern;
  if (Status there = needed(events->event_sizes, "event_sizes"); !there) {
    return there.error();
  }
  size_t at = 0;
  for (size_t event = 0; event < events->events; ++event) {
    const size_t size = events->event_sizes[event];
    if (size == 0) continue;  // as if it were not there
    if (size > kMostSymbols - at) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("more than {} symbols in {} events", kMostSymbols, events->events));
    }
    if (Status there = needed(events->symbols, "symbols"); !there) {
      return there.error();
    }
    for (const size_t end = at + size; at < end; ++at) {
      if (events->symbols[at] == nullptr) {
        return fail(ErrorCode::invalid_argument, fmt::format("symbol {}: a null pointer", at));
      }
      pattern.tokens.emplace_back(events->symbols[at]);
    }
    pattern.end_event();
  }
  return pattern;
}

}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;
namespace match = hoist::match;

namespace {

// A call that needs an index and nothing else.
template <typename Body>
hoist_status on_index(const hoist_match_index* index, const Body& body) {
  return guarded([&]() -> Status {
    if (Status there = needed(index, "index"); !there) return there;
    return body(*index->index);
  });
}

}  // namespace

extern "C" {

hoist_status hoist_match_open(const char* path, const hoist_match_open_options* options,
                              hoist_match_index** index) {
  return guarded([&]() -> Status {
    if (Status there = needed(index, "index"); !there) return there;
    *index = nullptr;
    const auto own = options_of(options, "hoist_match_open_options");
    if (!own) return own.error();
    if (path != nullptr && *path == '\0') {
      return hoist::fail(hoist::ErrorCode::invalid_argument, "path: an empty one");
    }
    auto opened = std::make_unique<hoist_match_index>();
    auto made = match::Index::open(std::string(view_of(path)), index_options(*own));
    if (!made) return made.error();
    opened->index = std::move(*made);
    *index = opened.release();
    return {};
  });
}

void hoist_match_close(hoist_match_index* index) { delete index; }

hoist_status hoist_match_learn(hoist_match_index* index, const hoist_match_events* pattern,
                               const hoist_match_learn_options* options,
                               hoist_match_learned* learned) {
  return on_index(index, [&](match::Index& on) -> Status {
    Result<size_t> size = 0;
    if (learned != nullptr) size = struct_size(learned, "hoist_match_learned");
    if (!size) return size.error();
    if (learned != nullptr) give(hoist_match_learned{}, *size, learned);
    const auto own = options_of(options, "hoist_match_learn_options");
    if (!own) return own.error();
    const auto how = learn_options(*own);
    if (!how) return how.error();
    auto text = pattern_of(pattern);
    if (!text) return text.error();
    const Result<match::Learned> done = on.learn(*text, *how);
    if (!done) return done.error();
    if (learned != nullptr) give(learned_of(*done, own->name != nullptr), *size, learned);
    return {};
  });
}

hoist_status hoist_match_begin_bulk(hoist_match_index* index) {
  return on_index(index, [](match::Index& on) { return on.begin_bulk(); });
}

hoist_status hoist_match_end_bulk(hoist_match_index* index) {
  return on_index(index, [](match::Index& on) { return on.end_bulk(); });
}

hoist_status hoist_match_remove(hoist_match_index* index, const char* name) {
  return on_index(index, [&](match::Index& on) -> Status {
    if (Status there = needed(name, "name"); !there) return there;
    return on.remove(name);
  });
}

hoist_status hoist_match_metadata(const hoist_match_index* index, const char* name, char** json) {
  return guarded([&]() -> Status {
    if (Status there = needed(json, "json"); !there) return there;
    *json = nullptr;
    if (Status there = needed(index, "index"); !there) return there;
    if (Status there = needed(name, "name"); !there) return there;
    const Result<std::string> found = index->index->metadata(name);
    if (!found) return found.error();
    *json = text_of(*found);
    return {};
  });
}

hoist_status hoist_match_sync(hoist_match_index* index) {
  return on_index(index, [](match::Index& on) { return on.sync(); });
}

hoist_status hoist_match_verify(const hoist_match_index* index, uint64_t* patterns) {
  if (patterns != nullptr) *patterns = 0;
  return on_index(index, [&](match::Index& on) -> Status {
    const Result<uint64_t> compared = on.verify();
    if (!compared) return compared.error();
    if (patterns != nullptr) *patterns = *compared;
    return {};
  });
}

hoist_status hoist_match_statistics(const hoist_match_index* index, hoist_match_stats* stats) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(stats, "hoist_match_stats");
    if (!size) return size.error();
    give(hoist_match_stats{}, *size, stats);
    if (Status there = needed(index, "index"); !there) return there;
    give(stats_of(index->index->stats()), *size, stats);
    return {};
  });
}

}  // extern "C"
