// JSON of answers, written value by value: those that most requests get take no tree of values.
//
//   AnswerText answer;
//   answer.begin('{').key("status").text("okay").key("stm").begin('[').end(']').end('}');
//   return std::move(answer).response();
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/message.h"

namespace hoist::service {

class AnswerText {
 public:
  AnswerText& begin(char bracket);  // { or [
  AnswerText& end(char bracket);
  // Before each value of an object.
  AnswerText& key(std::string_view word);

  AnswerText& text(std::string_view value);
  AnswerText& text_or_null(const std::optional<std::string>& value);
  AnswerText& number(std::integral auto value) { return json(std::to_string(value)); }
  AnswerText& flag(bool value) { return json(value ? "true" : "false"); }
  AnswerText& null() { return json("null"); }
  AnswerText& json(std::string_view value);  // as it is

  std::string take() && { return std::move(out_); }
  net::HttpResponse response() && { return {.body = std::move(out_)}; }

 private:
  void separate();

  std::string out_;
};

}  // namespace hoist::service
