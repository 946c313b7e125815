// The path of a request on arbitrary bytes: parser, target, router; and the frames of a WebSocket.
// What is found must not depend on how the bytes are cut, an error must have a status, and nothing
// that a request holds may break a line of a response.
//
// Input: a byte that says where the stream is cut and whether it is of HTTP, then the stream.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/parser.h"
#include "net/http/response_text.h"
#include "net/http/router.h"
#include "net/http/target.h"
#include "net/http/websocket_frames.h"

namespace {

using namespace hoist::net;

void require(bool condition) {
  if (!condition) std::abort();
}

const HttpRouter& router() {
  static const HttpRouter made = [] {
    HttpRouter routes;
    for (const char* pattern : {"/", "/a", "/a/{x}", "/a/{x}/b", "/a/b/{y}", "/{x}/{y}/{z}"}) {
      routes.add("GET", pattern, [](HttpRequest, HttpReply) {});
    }
    return routes;
  }();
  return made;
}

void check_request(const HttpHead& head, std::string& text) {
  text += head.method + ' ' + head.target + (head.keep_alive ? " keep\n" : " close\n");
  HttpResponse response;
  for (const HttpHeader& header : head.headers) {
    text += header.name + '=' + header.value + '\n';
    response.headers.push_back(header);
  }
  const std::string written = http_head(response, {.length = 0}, "now");
  require(static_cast<size_t>(std::count(written.begin(), written.end(), '\n')) <=
          head.headers.size() + 5);
  const auto target = split_target(head.target);
  if (!target) return;
  const auto query = parse_query(target->query);
  const auto match = router().find(head.method, target->path);
  require((match.route != nullptr) == (match.status == 200));
  for (const std::string& parameter : match.parameters) text += parameter + '\n';
  if (query) text += std::to_string(query->size()) + '\n';
}

// Puts `stream` in pieces of `step` bytes; 0: whole.
std::string requests(std::string_view stream, size_t step) {
  std::string text;
  std::string input;
  HttpParser parser(1000);
  while (!stream.empty()) {
    const std::string_view piece = stream.substr(0, step == 0 ? stream.size() : step);
    stream.remove_prefix(piece.size());
    input += piece;
    while (!input.empty()) {
      // In a heap block of its exact size, so that a sanitizer sees a step too far.
      const std::vector<char> bytes(input.begin(), input.end());
      const size_t taken = parser.put({bytes.data(), bytes.size()});
      require(taken <= bytes.size());
      text += parser.piece();
      if (parser.state() == HttpParser::State::failed) {
        require(parser.error() >= 400 && parser.error() < 600);
        return text + std::to_string(parser.error());
      }
      input.erase(0, taken);
      if (parser.state() == HttpParser::State::complete) {
        check_request(parser.head(), text);
        parser.reset();
      } else if (taken == 0) {
        require(input.size() <= 20'000);
        break;
      }
    }
  }
  return text;
}

std::string frames(std::string_view stream, size_t step) {
  std::string text;
  WebSocketParser parser(1000);
  while (!stream.empty()) {
    std::string_view piece = stream.substr(0, step == 0 ? stream.size() : step);
    stream.remove_prefix(piece.size());
    while (!piece.empty()) {
      piece.remove_prefix(parser.put(piece));
      if (parser.event() == WebSocketParser::Event::none) continue;
      text += std::to_string(static_cast<int>(parser.event()));
      if (parser.event() == WebSocketParser::Event::failed) {
        return text + ' ' + std::to_string(parser.code());
      }
      require(parser.payload().size() <= 1000);
      text += parser.payload() + '\n';
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t step = 1 + data[0] / 2;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = (data[0] & 1) == 0 ? requests : frames;
  require(read(stream, 0) == read(stream, step));
  return 0;
}
