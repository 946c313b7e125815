// Answers beside nlohmann::json's texts of the same values.
#include "service/api/answer_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/test_seed.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TEST(AnswerText, IsTheTextOfTheSameTree) {
  AnswerText answer;
  answer.begin('{').key("status").text("okay").key("none").null().key("yes").flag(true);
  answer.key("no").flag(false).key("least").number(INT64_MIN).key("most").number(UINT64_MAX);
  answer.key("lists").begin('[').begin('[').end(']').begin('[').text("{").text("[").end(']');
  answer.begin('{').end('}').end(']').key("list").json("[1,2]");
  answer.key("some").text_or_null("x").key("nothing").text_or_null(std::nullopt).end('}');
  const Json tree = {{"status", "okay"},
                     {"none", nullptr},
                     {"yes", true},
                     {"no", false},
                     {"least", INT64_MIN},
                     {"most", UINT64_MAX},
                     {"lists", {Json::array(), {"{", "["}, Json::object()}},
                     {"list", {1, 2}},
                     {"some", "x"},
                     {"nothing", nullptr}};
  const net::HttpResponse response = std::move(answer).response();
  EXPECT_EQ(response.body, dumped(tree));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
}

TEST(AnswerText, TextsOfAnyBytesAreEscapedAlike) {
  std::mt19937_64 random(test_seed());
  const std::string_view pieces[] = {"a",    "{",        "\"",           "\\",
                                     "\n",   "\b",       "\f",           "\x01",
                                     "\x7f", "\xc3\xa9", "\xe2\x80\xa8", "\xf0\x9f\x98\x80",
                                     "\xff", "\xc3",     "long text"};
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text;
    for (size_t left = random() % 6; left > 0; --left) text += pieces[random() % std::size(pieces)];
    if (turn % 100 == 0) text += '\0';
    AnswerText answer;
    answer.begin('[').text(text).text("").text(text).end(']');
    ASSERT_EQ(std::move(answer).take(), dumped({text, "", text}));
  }
}

}  // namespace
}  // namespace hoist::service
