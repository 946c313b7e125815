// Queries.
#include <fmt/core.h>

#include "capi/match_index.h"
#include "capi/status.h"
#include "capi/stop.h"
#include "capi/structs.h"
#include "capi/text.h"
#include "match/json/record_json.h"

using namespace hoist::capi;
using hoist::ErrorCode;
using hoist::Result;
using hoist::Status;
namespace match = hoist::match;

struct hoist_match_result {
  struct OfState {
    match::IndexSearchResult found;
    std::vector<hoist_match_hit> hits;  // of `found`
  };
  std::vector<OfState> states;
};

namespace {

Status check_threshold(double threshold) {
  if (threshold >= 0 && threshold <= 1) return {};  // and not NaN
  return hoist::fail(ErrorCode::invalid_argument,
                     fmt::format("a threshold of {}: 0 to 1", threshold));
}

Result<match::IndexSearchOptions> search_options(const hoist_match_search_options& options) {
  match::IndexSearchOptions how;
  if (Status valid = check_threshold(options.threshold); !valid) {
    return valid.error();
  }
  how.threshold = options.threshold;
  how.top = options.top;
  how.stop = hoist::capi::token_of(options.cancellation);
  if (options.scorer == nullptr) return how;
  const auto scorer = match::scorer_named(options.scorer);
  if (!scorer) {
    return hoist::fail(ErrorCode::invalid_argument,
                       fmt::format("no such scorer: {} (kato, lcs, indel, levenshtein, difflib, "
                                   "difflib-autojunk)",
                                   options.scorer));
  }
  how.scorer = *scorer;
  return how;
}

Result<match::RecordOptions> record_options(const hoist_match_predict_options& options) {
  match::RecordOptions how;
  if (Status valid = check_threshold(options.threshold); !valid) {
    return valid.error();
  }
  if (!(options.fuzzy >= 0 && options.fuzzy <= 1)) {
    return hoist::fail(ErrorCode::invalid_argument,
                       fmt::format("a fuzzy threshold of {}: 0 to 1", options.fuzzy));
  }
  how.threshold = options.threshold;
  if (options.top != 0) how.max_predictions = options.top;
  how.fuzzy = options.fuzzy;
  how.characters = options.characters != 0;
  how.affinity_emotive = view_of(options.affinity_emotive);
  how.stop = hoist::capi::token_of(options.cancellation);
  if (options.rank == nullptr) return how;
  const auto rank = match::rank_key_named(options.rank);
  if (!rank) {
    return hoist::fail(ErrorCode::invalid_argument,
                       fmt::format("no such key to rank by: {}", options.rank));
  }
  how.rank = *rank;
  return how;
}

Status search(const match::Index& index, const hoist_match_events* states, size_t count,
              const match::IndexSearchOptions& how, hoist_match_result& result) {
  std::vector<match::PatternText> texts;
  texts.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    auto text = pattern_of(&states[i]);
    if (!text) return text.error();
    texts.push_back(std::move(*text));
  }
  auto found = index.search(texts, how);
  if (!found) return found.error();
  result.states.reserve(found->size());
  for (match::IndexSearchResult& one : *found) {
    hoist_match_result::OfState& state = result.states.emplace_back();
    state.hits.reserve(one.hits.size());
    for (const match::IndexHit& hit : one.hits) {
      state.hits.push_back({hit.score, hit.normalized, hit.id});
    }
    state.found = std::move(one);
  }
  return {};
}

}  // namespace

extern "C" {

hoist_status hoist_match_search(const hoist_match_index* index, const hoist_match_events* states,
                                size_t count, const hoist_match_search_options* options,
                                hoist_match_result** result) {
  return guarded([&]() -> Status {
    if (Status there = needed(result, "result"); !there) return there;
    *result = nullptr;
    if (Status there = needed(index, "index"); !there) return there;
    if (Status there = count == 0 ? Status() : needed(states, "states"); !there) return there;
    const auto own = options_of(options, "hoist_match_search_options");
    if (!own) return own.error();
    const auto how = search_options(*own);
    if (!how) return how.error();
    auto made = std::make_unique<hoist_match_result>();
    if (Status done = search(*index->index, states, count, *how, *made); !done) return done;
    *result = made.release();
    return {};
  });
}

const hoist_match_hit* hoist_match_result_hits(const hoist_match_result* result, size_t state,
                                               size_t* count) {
  const bool there = result != nullptr && state < result->states.size();
  if (count != nullptr) *count = there ? result->states[state].hits.size() : 0;
  return there ? result->states[state].hits.data() : nullptr;
}

hoist_status hoist_match_result_name(const hoist_match_result* result, size_t state, size_t hit,
                                     char** name) {
  return guarded([&]() -> Status {
    if (Status there = needed(name, "name"); !there) return there;
    *name = nullptr;
    if (Status there = needed(result, "result"); !there) return there;
    if (state >= result->states.size() || hit >= result->states[state].hits.size()) {
      return hoist::fail(ErrorCode::not_found, fmt::format("no hit {} of state {}", hit, state));
    }
    const match::IndexSearchResult& found = result->states[state].found;
    *name = text_of(found.name(found.hits[hit]));
    return {};
  });
}

void hoist_match_result_free(hoist_match_result* result) { delete result; }

hoist_status hoist_match_predict(const hoist_match_index* index, const hoist_match_events* state,
                                 const hoist_match_predict_options* options, char** json,
                                 size_t* bytes) {
  return guarded([&]() -> Status {
    if (bytes != nullptr) *bytes = 0;
    if (Status there = needed(json, "json"); !there) return there;
    *json = nullptr;
    if (Status there = needed(index, "index"); !there) return there;
    const auto own = options_of(options, "hoist_match_predict_options");
    if (!own) return own.error();
    const auto how = record_options(*own);
    if (!how) return how.error();
    auto text = pattern_of(state);
    if (!text) return text.error();
    const auto prediction = index->index->predict(*text, *how);
    if (!prediction) return prediction.error();
    std::string records = "[";
    for (const match::Record& record : prediction->records) {
      if (records.size() > 1) records += ", ";
      records += match::record_json(record, *text, *index->index);
    }
    records += "]";
    *json = text_of(records);
    if (bytes != nullptr) *bytes = records.size();
    return {};
  });
}

}  // extern "C"
