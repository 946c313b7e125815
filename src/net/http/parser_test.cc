#include "net/http/parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_seed.h"

namespace hoist::net {
namespace {

// What a stream of requests holds; the last may have failed.
struct Parsed {
  std::string text;  // each request: method, target, headers, body
  int error = 0;
};

// Feeds the stream in pieces that end at `cuts`, as a connection does.
Parsed parse(std::string_view stream, const std::vector<size_t>& cuts) {
  Parsed parsed;
  HttpParser parser(32 << 10);
  std::string input;
  std::string body;
  size_t from = 0;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const size_t to = i < cuts.size() ? cuts[i] : stream.size();
    input += stream.substr(from, to - from);
    from = to;
    while (!input.empty()) {
      const size_t taken = parser.put(input);
      body += parser.piece();
      input.erase(0, taken);
      if (parser.state() == HttpParser::State::failed) {
        parsed.error = parser.error();
        return parsed;
      }
      if (parser.state() == HttpParser::State::complete) {
        const HttpHead& head = parser.head();
        parsed.text += head.method + ' ' + head.target + (head.keep_alive ? " keep" : " close");
        for (const auto& header : head.headers)
          parsed.text += '|' + header.name + '=' + header.value;
        parsed.text += '\n' + body + '\n';
        body.clear();
        parser.reset();
      } else if (taken == 0) {
        break;
      }
    }
  }
  return parsed;
}

const std::string kStream =
    "GET /a?b=c HTTP/1.1\r\nHost: x\r\nAccept:  */*  \r\n\r\n"
    "\r\nPOST /p HTTP/1.1\r\nhost: x\r\nContent-Length: 5\r\n\r\nhello"
    "POST /q HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "3\r\nabc\r\nA;name=\"v\"\r\n0123456789\r\n000\r\nTrailer: 1\r\n\r\n"
    "DELETE /r HTTP/1.0\r\n\r\n"
    "POST /t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    "POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const std::string kText =
    "GET /a?b=c keep|host=x|accept=*/*\n\n"
    "POST /p keep|host=x|content-length=5\nhello\n"
    "POST /q keep|host=x|transfer-encoding=Chunked\nabc0123456789\n"
    "DELETE /r close\n\n"
    "POST /t keep|host=x|transfer-encoding=chunked\n\n"
    "POST /s close|host=x|content-length=0|connection=close\n\n";

TEST(HttpParser, EveryCutGivesTheSameRequests) {
  EXPECT_EQ(parse(kStream, {}).text, kText);
  std::vector<size_t> all(kStream.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
    const Parsed parsed = parse(kStream, {i});
    EXPECT_EQ(parsed.text, kText) << "cut at " << i;
    EXPECT_EQ(parsed.error, 0) << "cut at " << i;
  }
  EXPECT_EQ(parse(kStream, all).text, kText);
}

TEST(HttpParser, RandomCutsGiveTheSameRequests) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<size_t> cuts(random() % 12);
    for (size_t& cut : cuts) cut = random() % kStream.size();
    std::sort(cuts.begin(), cuts.end());
    EXPECT_EQ(parse(kStream, cuts).text, kText);
  }
}

// What two servers may read differently, or nobody should send. Each at every cut: the answer must
// not depend on how the bytes arrive.
TEST(HttpParser, RefusesWhatIsAmbiguous) {
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n";
  const struct {
    std::string stream;
    int error;
  } cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", 400},                                      // no host
      {get + "Host: y\r\n\r\n", 400},                                       // two
      {post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},  // duplicate lengths
      {post + "Content-Length: 5, 5\r\n\r\nhello", 400},
      {post + "Content-Length: +5\r\n\r\nhello", 400},
      {post + "Content-Length: -5\r\n\r\nhello", 400},
      {post + "Content-Length: 0x5\r\n\r\nhello", 400},
      {post + "Content-Length: \r\n\r\n", 400},
      {post + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n", 400},  // both
      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {chunked + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {get + "A: b\r\n c\r\n\r\n", 400},  // a folded line
      {get + "A: b\r\n\tc\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: x\n\n", 400},  // bare line feeds
      {"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400},
      {get + "A: b\rc\r\n\r\n", 400},  // a bare carriage return
      {get + "A : b\r\n\r\n", 400},    // a space before the colon
      {get + ": b\r\n\r\n", 400},
      {get + "A\r\n\r\n", 400},
      {get + std::string("A: b\0c\r\n\r\n", 10), 400},
      {get + "A: b\x7f\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /\r\nHost: x\r\n\r\n", 400},
      {"G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505},
      {"GET / HTTP/x\r\nHost: x\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: x\r\n\r\n", 400},
      {get + "Expect: the best\r\n\r\n", 417},
      {chunked + "\r\nx\r\n\r\n", 400},  // chunks
      {chunked + "\r\n-1\r\n\r\n", 400},
      {chunked + "\r\n11111111111111111\r\n", 400},  // 17 digits
      {chunked + "\r\n3\nabc\r\n0\r\n\r\n", 400},
      {chunked + "\r\n3\r\nabcd\r\n0\r\n\r\n", 400},
      {chunked + "\r\n3\r\nabc0\r\n\r\n", 400},
      {chunked + "\r\n0\r\nContent-Length: 5\r\n\r\n", 400},
      {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 12), 400},  // TLS to a plain port
  };
  for (const auto& each : cases) {
    EXPECT_EQ(parse(each.stream, {}).error, each.error) << each.stream;
    for (size_t cut = 0; cut < each.stream.size(); ++cut) {
      ASSERT_EQ(parse(each.stream, {cut}).error, each.error) << each.stream << " cut at " << cut;
    }
  }
}

TEST(HttpParser, HeadsAndChunkLinesAreBounded) {
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\nA: ";
  const size_t fits = (32 << 10) - get.size() - 4;
  EXPECT_EQ(parse(get + std::string(fits, 'a') + "\r\n\r\n", {}).error, 0);
  EXPECT_EQ(parse(get + std::string(fits + 1, 'a') + "\r\n\r\n", {}).error, 431);
  EXPECT_EQ(parse(get + std::string(40 << 10, 'a'), {}).error, 431);  // and no end
  EXPECT_EQ(parse("GET /" + std::string(40 << 10, 'a'), {}).error, 431);
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  while (many.size() < 33 << 10) many += "a: b\r\n";
  EXPECT_EQ(parse(many + "\r\n", {}).error, 431);
  // Two errors: the first is told, however the bytes come.
  for (const std::vector<size_t>& cuts : {std::vector<size_t>{}, {100}, {32 << 10}, {40 << 10}}) {
    EXPECT_EQ(parse(get + std::string(50 << 10, 'a') + "\n\r\n\r\n", cuts).error, 431);
  }
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(parse(chunked + "1;" + std::string(20 << 10, 'e'), {}).error, 400);
  const std::string ends = chunked + "1;" + std::string(20 << 10, 'e') + "\r\na\r\n0\r\n\r\n";
  EXPECT_EQ(parse(ends, {}).error, 400);
  EXPECT_EQ(parse(ends, {chunked.size() + 10}).error, 400);
  std::string trailers = chunked + "0\r\n";
  while (trailers.size() < 20 << 10) trailers += "t: u\r\n";
  EXPECT_EQ(parse(trailers, {}).error, 400);
}

}  // namespace
}  // namespace hoist::net
