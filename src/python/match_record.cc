#include "python/match_record.h"

#include <cmath>
#include <unordered_map>

namespace nb = nanobind;

namespace hoist::python {
namespace {

using match::Record;

nb::object text(std::string_view utf8) { return nb::str(utf8.data(), utf8.size()); }

// JSON has no infinities, and so records have none.
nb::object number(double value) {
  if (!std::isfinite(value)) return nb::none();
  return nb::float_(value);
}

class RecordDicts {
 public:
  RecordDicts(const match::PatternText& state, const match::Index& index) : index_(index) {
    for (const std::string_view token : state.tokens) state_.push_back(text(token));
  }

  nb::dict of(const Record& record) {
    const auto length = static_cast<uint32_t>(record.symbols.size());
    const auto observed = [&](uint32_t at) { return state_[at]; };
    const auto expected = [&](uint32_t at) { return symbol(record.symbols[at]); };
    nb::dict out;
    out["type"] = "prototypical";
    out["name"] = text(record.name);
    out["frequency"] = record.frequency;
    nb::dict emotives;
    for (const match::Emotive& emotive : record.emotives) {
      emotives[text(emotive.key)] = number(emotive.value);
    }
    out["emotives"] = emotives;
    out["matches"] = list(record.matches, observed);
    out["past"] = symbols(record, 0, record.present_begin);
    out["present"] = symbols(record, record.present_begin, record.present_end);
    out["future"] = symbols(record, record.present_end, length);
    out["sequence"] = events(record, 0, length);
    out["missing"] = by_event(record, record.missing, expected);
    out["extras"] = by_event(record, record.extras, observed);
    out["anomalies"] = list(record.anomalies, [&](const match::Anomaly& anomaly) {
      nb::dict entry;
      entry["observed"] = observed(anomaly.observed);
      entry["expected"] = expected(anomaly.expected);
      entry["similarity"] = number(anomaly.similarity);
      return entry;
    });
    add_own_numbers(record, out);
    if (!record.is_flat) add_ensemble_numbers(record, out);
    return out;
  }

 private:
  template <typename Items, typename Make>
  static nb::list list(const Items& items, const Make& make) {
    nb::list out;
    for (const auto& item : items) out.append(make(item));
    return out;
  }

  // A flat record has one list for all events.
  template <typename Make>
  static nb::list by_event(const Record& record, const std::vector<std::vector<uint32_t>>& events,
                           const Make& make) {
    const auto one = [&](const std::vector<uint32_t>& event) { return list(event, make); };
    if (!record.is_flat) return list(events, one);
    return events.empty() ? nb::list() : one(events.front());
  }

  nb::list symbols(const Record& record, uint32_t begin, uint32_t end) {
    if (!record.is_flat) return events(record, begin, end);
    nb::list out;
    for (uint32_t at = begin; at < end; ++at) out.append(symbol(record.symbols[at]));
    return out;
  }

  // Both lie at boundaries of events.
  nb::list events(const Record& record, uint32_t begin, uint32_t end) {
    nb::list out;
    uint32_t at = 0;
    for (const uint16_t size : record.event_sizes) {
      if (at >= begin && at < end) {
        nb::list event;
        for (uint32_t i = at; i < at + size; ++i) event.append(symbol(record.symbols[i]));
        out.append(event);
      }
      at += size;
    }
    return out;
  }

  static void add_own_numbers(const Record& record, nb::dict& out) {
    out["potential"] = number(record.potential);
    out["similarity"] = number(record.similarity);
    out["evidence"] = number(record.evidence);
    out["confidence"] = number(record.confidence);
    out["snr"] = number(record.snr);
    out["fragmentation"] = number(record.fragmentation);
    const auto weighted = [&](double match::WeightedFields::*member) -> nb::object {
      return record.weighted ? number((*record.weighted).*member) : nb::none();
    };
    out["weighted_similarity"] = weighted(&match::WeightedFields::similarity);
    out["weighted_evidence"] = weighted(&match::WeightedFields::evidence);
    out["weighted_confidence"] = weighted(&match::WeightedFields::confidence);
    out["weighted_snr"] = weighted(&match::WeightedFields::snr);
  }

  static void add_ensemble_numbers(const Record& record, nb::dict& out) {
    out["entropy"] = number(record.entropy);
    out["normalized_entropy"] = number(record.normalized_entropy);
    out["global_normalized_entropy"] = number(record.global_normalized_entropy);
    out["itfdf_similarity"] = number(record.itfdf_similarity);
    out["tfidf_score"] = number(record.tfidf_score);
    out["confluence"] = number(record.confluence);
    out["predictive_information"] = number(record.predictive_information);
    out["pattern_probability"] = number(record.pattern_probability);
    out["weighted_strength"] = number(record.weighted_strength);
    out["bayesian_posterior"] = number(record.bayesian_posterior);
    out["bayesian_prior"] = number(record.bayesian_prior);
    out["bayesian_likelihood"] = number(record.bayesian_likelihood);
  }

  // One str for all places of a symbol.
  nb::object symbol(uint32_t id) {
    nb::object& known = symbols_[id];
    if (!known.is_valid()) known = text(index_.symbol(id));
    return known;
  }

  const match::Index& index_;
  std::vector<nb::object> state_;
  std::unordered_map<uint32_t, nb::object> symbols_;
};

}  // namespace

nb::list record_dicts(const match::Prediction& prediction, const match::PatternText& state,
                      const match::Index& index) {
  RecordDicts dicts(state, index);
  nb::list out;
  for (const Record& record : prediction.records) out.append(dicts.of(record));
  return out;
}

}  // namespace hoist::python
