#include "net/http/router.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "net/http/response_text.h"
#include "net/http/target.h"

namespace hoist::net {
namespace {

using Arguments = std::vector<std::pair<std::string, std::string>>;

HttpRouter routes() {
  HttpRouter router;
  for (const char* pattern : {"/", "/sessions", "/sessions/count", "/sessions/{id}",
                              "/sessions/{id}/observe", "/sessions/{id}/learn", "/{any}/count/x"}) {
    router.add("GET", pattern, [](HttpRequest, HttpReply) {});
  }
  router.add(
      "POST", "/sessions/{id}/observe", [](HttpRequest, HttpReply) {}, 7);
  router.add("DELETE", "/sessions/{id}", [](HttpRequest, HttpReply) {});
  return router;
}

std::string found(const HttpRouter& router, std::string_view method, std::string_view path) {
  const auto match = router.find(method, path);
  if (!match.route) return std::to_string(match.status) + ' ' + match.allow;
  std::string text = match.route->pattern;
  for (const std::string& parameter : match.parameters) text += '|' + parameter;
  return text;
}

TEST(HttpRouter, LiteralsBeforeParameters) {
  const HttpRouter router = routes();
  EXPECT_EQ(found(router, "GET", "/"), "/");
  EXPECT_EQ(found(router, "GET", "/sessions"), "/sessions");
  EXPECT_EQ(found(router, "GET", "/sessions/count"), "/sessions/count");
  EXPECT_EQ(found(router, "GET", "/sessions/counted"), "/sessions/{id}|counted");
  EXPECT_EQ(found(router, "GET", "/sessions/count/observe"), "/sessions/{id}/observe|count");
  EXPECT_EQ(found(router, "GET", "/sessions/count/x"), "/{any}/count/x|sessions");
  EXPECT_EQ(found(router, "GET", "/sessions/a%2Fb%20c/learn"), "/sessions/{id}/learn|a/b c");
  EXPECT_EQ(found(router, "GET", "/sess%69ons"), "/sessions");
  EXPECT_EQ(router.find("POST", "/sessions/x/observe").route->most_body, 7u);
}

TEST(HttpRouter, WhatIsNotThere) {
  const HttpRouter router = routes();
  for (const char* path : {"", "x", "/x", "/sessions/", "//", "/sessions//observe", "/sessions/x/",
                           "/sessions/%zz", "/sessions/%00", "*"}) {
    EXPECT_EQ(found(router, "GET", path), "404 ") << path;
  }
  EXPECT_EQ(found(router, "PUT", "/sessions/x/observe"), "405 GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(found(router, "DELETE", "/sessions/count"), "405 GET, HEAD, OPTIONS");
  EXPECT_EQ(found(router, "get", "/sessions"), "405 GET, HEAD, OPTIONS");
  EXPECT_EQ(found(router, "HEAD", "/sessions"), "/sessions");
  EXPECT_EQ(found(router, "OPTIONS", "/sessions/x"), "204 DELETE, GET, HEAD, OPTIONS");
  EXPECT_EQ(found(router, "OPTIONS", "*"), "204 ");
}

TEST(HttpTarget, PathAndQuery) {
  EXPECT_EQ(split_target("/a?b?c")->query, "b?c");
  EXPECT_EQ(split_target("http://h")->path, "/");
  EXPECT_EQ(split_target("https://h?x")->query, "x");
  EXPECT_EQ(split_target("http://h/a/b?x")->path, "/a/b");
  EXPECT_FALSE(split_target("a"));
  EXPECT_FALSE(split_target(""));
  EXPECT_EQ(*parse_query("a=1&b=x+y%21&&c&=d&e=f=g"),
            (Arguments{{"a", "1"}, {"b", "x y!"}, {"c", ""}, {"", "d"}, {"e", "f=g"}}));
  EXPECT_TRUE(parse_query("")->empty());
  for (const char* wrong : {"a=%", "a=%4", "%g0", "a=%00"})
    EXPECT_FALSE(parse_query(wrong)) << wrong;
  EXPECT_EQ(percent_decoded("a+b%2B"), "a+b+");
}

TEST(HttpHead, NobodySplitsAResponse) {
  HttpResponse response;
  response.headers = {{"good", "value"},
                      {"bad", "a\r\nset-cookie: x"},
                      {"worse\n", "b"},
                      {"nul", std::string("a\0b", 3)},
                      {"content-length", "7"}};
  EXPECT_EQ(http_head(response, {.length = 3}, "now"),
            "HTTP/1.1 200 OK\r\ndate: now\r\ncontent-type: application/json\r\ngood: value\r\n"
            "content-length: 3\r\n\r\n");
  EXPECT_EQ(http_error(404, "no \"x\"\n").body, "{\"detail\":\"no \\\"x\\\" \"}");
}

TEST(HttpHead, DatesAsTheStandardWritesThem) {
  HttpDate date;
  const std::string text(date.text());
  ASSERT_EQ(text.size(), 29u) << text;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(text.substr(3, 2), ", ");
  EXPECT_TRUE(text.ends_with(" GMT"));
}

}  // namespace
}  // namespace hoist::net
