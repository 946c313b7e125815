#include "match/json/answer.h"

#include <fmt/core.h>

#include "match/json/json_text.h"
#include "match/json/record_json.h"

namespace hoist::match {
namespace {

Result<std::vector<Answer>> predict(const Index& index, std::span<PatternText> states,
                                    const RecordOptions& options) {
  std::vector<Answer> answers;
  for (PatternText& state : states) {
    const auto prediction = index.predict(state, options);
    if (!prediction) return prediction.error();
    Answer& answer = answers.emplace_back();
    for (const Record& record : prediction->records) {
      answer.json.push_back(record_json(record, state, index));
      answer.text.push_back(fmt::format("{:.4f}  {}  {}", record.similarity, record.name,
                                        record_summary(record, index)));
    }
  }
  return answers;
}

}  // namespace

Result<std::vector<Answer>> answer(const Index& index, std::span<PatternText> states,
                                   const Question& question) {
  if (question.search.scorer == Scorer::kato) return predict(index, states, question.predict);
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
