// Answers to states, as lines of text and as JSON: for whoever hands them on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "match/index/index.h"

namespace hoist::match {

struct Question {
  IndexSearchOptions search;  // with Scorer::kato records are found, by `predict`
  RecordOptions predict;
  bool show = false;  // the text of each pattern, too (match/json/pattern_text.h)
};

// What one state found, best first.
struct Answer {
  std::vector<std::string> json;  // one object each
  std::vector<std::string> text;
};

// In the order of `states`, which are normalised.
Result<std::vector<Answer>> answer(const Index& index, std::span<PatternText> states,
                                   const Question& question);

// `space` between two objects.
std::string json_array(const std::vector<std::string>& objects, std::string_view space);

}  // namespace hoist::match
