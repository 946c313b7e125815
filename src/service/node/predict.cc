#include "service/node/predict.h"

#include <fmt/core.h>

#include <iterator>

#include "match/json/json_text.h"
#include "match/json/record_json.h"

namespace hoist::service {
namespace {

std::string future_json(const match::FuturePotential& future, const match::Index& index) {
  std::string out = "{\"future\": [";
  size_t at = 0;
  for (const uint16_t size : future.event_sizes) {
    out += at == 0 ? "[" : ", [";
    for (size_t i = 0; i < size; ++i, ++at) {
      if (i > 0) out += ", ";
      out += match::json_string(index.symbol(future.symbols[at]));
    }
    out += "]";
  }
  fmt::format_to(std::back_inserter(out),
                 "], \"aggregate_potential\": {}, \"supporting_patterns\": {}, "
                 "\"total_weighted_frequency\": {}}}",
                 match::json_number(future.aggregate_potential), future.supporting_patterns,
                 match::json_number(future.total_weighted_frequency));
  return out;
}

}  // namespace

Result<Predictions> predict(const Node& node, const std::vector<Event>& state,
                            const SessionConfig& config) {
  const std::shared_ptr<match::Index> index = node.index();
  if (index == nullptr || state.empty()) return Predictions();
  match::RecordOptions options;
  options.threshold = config.recall_threshold();
  options.max_predictions = config.max_predictions();
  options.rank = config.rank();
  options.fuzzy = config.fuzzy_token_threshold();
  options.characters = !config.use_token_matching();
  options.whole_pattern_entropy = node.is_finalized();
  const std::string emotive = config.affinity_emotive();
  options.affinity_emotive = emotive;
  if (!emotive.empty()) {
    options.affinity = [&](std::string_view symbol) {
      return node.affinities().of(symbol, emotive);
    };
  }
  match::PatternText text = match::pattern_of(state);
  const auto prediction = index->predict(text, options);
  if (!prediction) return prediction.error();

  Predictions answer;
  answer.count = prediction->records.size();
  answer.predictions = "[";
  for (const match::Record& record : prediction->records) {
    if (answer.predictions.size() > 1) answer.predictions += ", ";
    answer.predictions += match::record_json(record, text, *index);
  }
  answer.predictions += "]";
  answer.future_potentials = "[";
  for (const match::FuturePotential& future : prediction->futures) {
    if (answer.future_potentials.size() > 1) answer.future_potentials += ", ";
    answer.future_potentials += future_json(future, *index);
  }
  answer.future_potentials += "]";
  return answer;
}

}  // namespace hoist::service
