#include "match/json/record_json.h"

#include <fmt/core.h>

#include <optional>
#include <span>

#include "match/json/json_text.h"

namespace hoist::match {
namespace {

class RecordWriter {
 public:
  RecordWriter(const Record& record, const PatternText& state, const Index& index)
      : record_(record), state_(state), index_(index) {}

  std::string write() {
    text("type", "prototypical");
    text("name", record_.name);
    field("frequency", fmt::format("{}", record_.frequency));
    field("emotives", emotives());
    field("matches", list(record_.matches, [this](uint32_t at) { return of_state(at); }));
    const auto length = static_cast<uint32_t>(record_.symbols.size());
    field("past", symbols(0, record_.present_begin));
    field("present", symbols(record_.present_begin, record_.present_end));
    field("future", symbols(record_.present_end, length));
    field("sequence", events(0, length));
    field("missing", by_event(record_.missing, [this](uint32_t at) { return of_pattern(at); }));
    field("extras", by_event(record_.extras, [this](uint32_t at) { return of_state(at); }));
    field("anomalies", list(record_.anomalies, [this](const Anomaly& anomaly) {
            return fmt::format("{{\"observed\": {}, \"expected\": {}, \"similarity\": {}}}",
                               of_state(anomaly.observed), of_pattern(anomaly.expected),
                               json_number(anomaly.similarity));
          }));
    own_numbers();
    if (!record_.is_flat) ensemble_numbers();
    return out_ + "}";
  }

 private:
  void field(std::string_view key, const std::string& value) {
    out_ += fmt::format("{}\"{}\": {}", out_.size() > 1 ? ", " : "", key, value);
  }
  void text(std::string_view key, std::string_view value) { field(key, json_string(value)); }
  void number(std::string_view key, double value) { field(key, json_number(value)); }

  void own_numbers() {
    number("potential", record_.potential);
    number("similarity", record_.similarity);
    number("evidence", record_.evidence);
    number("confidence", record_.confidence);
    number("snr", record_.snr);
    number("fragmentation", record_.fragmentation);
    const auto weighted = [this](std::string_view key, double WeightedFields::*member) {
      field(key, record_.weighted ? json_number((*record_.weighted).*member) : "null");
    };
    weighted("weighted_similarity", &WeightedFields::similarity);
    weighted("weighted_evidence", &WeightedFields::evidence);
    weighted("weighted_confidence", &WeightedFields::confidence);
    weighted("weighted_snr", &WeightedFields::snr);
  }

  void ensemble_numbers() {
    number("entropy", record_.entropy);
    number("normalized_entropy", record_.normalized_entropy);
    number("global_normalized_entropy", record_.global_normalized_entropy);
    number("itfdf_similarity", record_.itfdf_similarity);
    number("tfidf_score", record_.tfidf_score);
    number("confluence", record_.confluence);
    number("predictive_information", record_.predictive_information);
    number("pattern_probability", record_.pattern_probability);
    number("weighted_strength", record_.weighted_strength);
    number("bayesian_posterior", record_.bayesian_posterior);
    number("bayesian_prior", record_.bayesian_prior);
    number("bayesian_likelihood", record_.bayesian_likelihood);
  }

  std::string of_state(uint32_t at) const { return json_string(state_.tokens[at]); }
  std::string of_pattern(uint32_t at) const {
    return json_string(index_.symbol(record_.symbols[at]));
  }

  template <typename Items, typename Write>
  static std::string list(const Items& items, const Write& write) {
    std::string out = "[";
    for (const auto& item : items) {
      if (out.size() > 1) out += ", ";
      out += write(item);
    }
    return out + "]";
  }

  // A flat record has one list for all events.
  template <typename Write>
  std::string by_event(const std::vector<std::vector<uint32_t>>& events, const Write& write) const {
    const auto one = [&](const std::vector<uint32_t>& event) { return list(event, write); };
    if (!record_.is_flat) return list(events, one);
    return events.empty() ? "[]" : one(events.front());
  }

  std::string emotives() const {
    std::string out = "{";
    for (const Emotive& emotive : record_.emotives) {
      if (out.size() > 1) out += ", ";
      out += json_string(emotive.key) + ": " + json_number(emotive.value);
    }
    return out + "}";
  }

  std::string symbols(uint32_t begin, uint32_t end) const {
    if (!record_.is_flat) return events(begin, end);
    std::string out = "[";
    for (uint32_t at = begin; at < end; ++at) out += (at == begin ? "" : ", ") + of_pattern(at);
    return out + "]";
  }

  // Both lie at boundaries of events.
  std::string events(uint32_t begin, uint32_t end) const {
    std::string out = "[";
    uint32_t at = 0;
    for (const uint16_t size : record_.event_sizes) {
      if (at >= begin && at < end) {
        out += out.size() > 1 ? ", [" : "[";
        for (uint32_t i = at; i < at + size; ++i) out += (i == at ? "" : ", ") + of_pattern(i);
        out += "]";
      }
      at += size;
    }
    return out + "]";
  }

  const Record& record_;
  const PatternText& state_;
  const Index& index_;
  std::string out_ = "{";
};

}  // namespace

std::string record_json(const Record& record, const PatternText& state, const Index& index) {
  return RecordWriter(record, state, index).write();
}

std::string record_summary(const Record& record, const Index& index) {
  std::string out;
  for (uint32_t at = 0; at < record.symbols.size(); ++at) {
    if (at == record.present_begin) out += "[";
    out += index.symbol(record.symbols[at]);
    if (at + 1 == record.present_end) out += "]";
    out += " ";
  }
  return out;
}

}  // namespace hoist::match
