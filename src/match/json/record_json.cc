#include "match/json/record_json.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "match/json/json_text.h"

namespace hoist::match {
namespace {

class RecordWriter {
 public:
  RecordWriter(std::string& out, const Record& record, const PatternText& state, const Index& index)
      : out_(out), record_(record), state_(state), index_(index) {}

  void write() {
    out_ += "{\"type\": \"prototypical\"";
    key("name");
    append_json_string(out_, record_.name);
    key("frequency");
    out_ += fmt::format_int(record_.frequency).c_str();
    key("emotives");
    emotives();
    key("matches");
    list(record_.matches, [this](uint32_t at) { of_state(at); });
    const auto length = static_cast<uint32_t>(record_.symbols.size());
    key("past");
    symbols(0, record_.present_begin);
    key("present");
    symbols(record_.present_begin, record_.present_end);
    key("future");
    symbols(record_.present_end, length);
    key("sequence");
    events(0, length);
    key("missing");
    by_event(record_.missing, [this](uint32_t at) { of_pattern(at); });
    key("extras");
    by_event(record_.extras, [this](uint32_t at) { of_state(at); });
    key("anomalies");
    list(record_.anomalies, [this](const Anomaly& anomaly) { write(anomaly); });
    own_numbers();
    if (!record_.is_flat) ensemble_numbers();
    out_ += '}';
  }

 private:
  // After another: the first is written with its value.
  void key(std::string_view key) {
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
  }
  void number(std::string_view name, double value) {
    key(name);
    append_json_number(out_, value);
  }

  void own_numbers() {
    number("potential", record_.potential);
    number("similarity", record_.similarity);
    number("evidence", record_.evidence);
    number("confidence", record_.confidence);
    number("snr", record_.snr);
    number("fragmentation", record_.fragmentation);
    weighted("weighted_similarity", &WeightedFields::similarity);
    weighted("weighted_evidence", &WeightedFields::evidence);
    weighted("weighted_confidence", &WeightedFields::confidence);
    weighted("weighted_snr", &WeightedFields::snr);
  }
  void weighted(std::string_view name, double WeightedFields::*member) {
    if (record_.weighted) return number(name, (*record_.weighted).*member);
    key(name);
    out_ += "null";
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

  void of_state(uint32_t at) { append_json_string(out_, state_.tokens[at]); }
  void of_pattern(uint32_t at) { append_json_string(out_, index_.symbol(record_.symbols[at])); }

  void write(const Anomaly& anomaly) {
    out_ += "{\"observed\": ";
    of_state(anomaly.observed);
    key("expected");
    of_pattern(anomaly.expected);
    number("similarity", anomaly.similarity);
    out_ += '}';
  }

  template <typename Items, typename Write>
  void list(const Items& items, const Write& write) {
    out_ += '[';
    std::string_view comma;
    for (const auto& item : items) {
      out_ += comma;
      write(item);
      comma = ", ";
    }
    out_ += ']';
  }

  // A flat record has one list for all events.
  template <typename Write>
  void by_event(const std::vector<std::vector<uint32_t>>& events, const Write& write) {
    const auto one = [&](const std::vector<uint32_t>& event) { list(event, write); };
    if (!record_.is_flat) return list(events, one);
    if (!events.empty()) return one(events.front());
    out_ += "[]";
  }

  void emotives() {
    out_ += '{';
    std::string_view comma;
    for (const Emotive& emotive : record_.emotives) {
      out_ += comma;
      append_json_string(out_, emotive.key);
      out_ += ": ";
      append_json_number(out_, emotive.value);
      comma = ", ";
    }
    out_ += '}';
  }

  void symbol_list(uint32_t begin, uint32_t end) {
    list(std::span(record_.symbols).subspan(begin, end - begin),
         [this](auto symbol) { append_json_string(out_, index_.symbol(symbol)); });
  }

  void symbols(uint32_t begin, uint32_t end) {
    if (!record_.is_flat) return events(begin, end);
    symbol_list(begin, end);
  }

  // Both lie at boundaries of events.
  void events(uint32_t begin, uint32_t end) {
    out_ += '[';
    std::string_view comma;
    uint32_t at = 0;
    for (const uint16_t size : record_.event_sizes) {
      if (at >= begin && at < end) {
        out_ += comma;
        symbol_list(at, at + size);
        comma = ", ";
      }
      at += size;
    }
    out_ += ']';
  }

  std::string& out_;
  const Record& record_;
  const PatternText& state_;
  const Index& index_;
};

}  // namespace

void append_record_json(std::string& out, const Record& record, const PatternText& state,
                        const Index& index) {
  RecordWriter(out, record, state, index).write();
}

std::string record_json(const Record& record, const PatternText& state, const Index& index) {
  std::string out;
  append_record_json(out, record, state, index);
  return out;
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
