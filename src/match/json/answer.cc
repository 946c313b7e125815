#include "match/json/answer.h"

#include <fmt/core.h>

#include "match/json/json_text.h"
#include "match/json/pattern_text.h"
#include "match/json/record_json.h"

namespace hoist::match {
namespace {

EventViews events_of(const Record& record, const Index& index) {
  EventViews events;
  size_t at = 0;
  for (const uint16_t size : record.event_sizes) {
    std::vector<std::string_view>& event = events.emplace_back();
    for (const size_t end = at + size; at < end; ++at) {
      event.push_back(index.symbol(record.symbols[at]));
    }
  }
  return events;
}

// An object with further fields.
std::string with_fields(std::string object, const std::string& fields) {
  object.pop_back();
  return object + ", " + fields + "}";
}

Result<std::vector<Answer>> predict(const Index& index, std::span<PatternText> states,
                                    const Question& question) {
  std::vector<Answer> answers;
  for (PatternText& state : states) {
    const auto prediction = index.predict(state, question.predict);
    if (!prediction) return prediction.error();
    Answer& answer = answers.emplace_back();
    for (const Record& record : prediction->records) {
      std::string json = record_json(record, state, index);
      if (question.show) json = with_fields(json, pattern_fields(events_of(record, index)));
      answer.json.push_back(std::move(json));
      answer.text.push_back(fmt::format("{:.4f}  {}  {}", record.similarity, record.name,
                                        record_summary(record, index)));
    }
  }
  return answers;
}

}  // namespace

Result<std::vector<Answer>> answer(const Index& index, std::span<PatternText> states,
                                   const Question& question) {
  if (question.search.scorer == Scorer::kato) return predict(index, states, question);
  const auto results = index.search(states, question.search);
  if (!results) return results.error();
  std::vector<Answer> answers;
  for (const IndexSearchResult& result : *results) {
    Answer& answer = answers.emplace_back();
    for (const IndexHit& hit : result.hits) {
      const std::string name = result.name(hit);
      answer.json.push_back(fmt::format("{{\"name\": {}, \"score\": {}, \"normalized\": {}}}",
                                        json_string(name), json_number(hit.score),
                                        json_number(hit.normalized)));
      answer.text.push_back(fmt::format("{:.4f}  {}", hit.normalized, name));
      if (!question.show) continue;
      const EventViews events = index.events(result, hit);
      answer.json.back() = with_fields(answer.json.back(), pattern_fields(events));
      answer.text.back() += "  " + pattern_text(events);
    }
  }
  return answers;
}

std::string json_array(const std::vector<std::string>& objects, std::string_view space) {
  std::string out = "[";
  for (const std::string& object : objects) {
    if (out.size() > 1) out += fmt::format(",{}", space);
    out += object;
  }
  return out += "]";
}

}  // namespace hoist::match
