// A connection's requests: from the head to the handler, and from the reply to the output.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/monotonic.h"
#include "net/http/connection.h"
#include "net/http/guarded.h"
#include "net/http/incoming.h"
#include "net/http/loop.h"
#include "net/http/response_text.h"
#include "net/http/target.h"

namespace hoist::net {
namespace {

constexpr size_t kSkippedBody = 64 << 10;   // read and dropped rather than closing the connection
constexpr size_t kReservedBody = 64 << 10;  // before a byte of it has come
constexpr const char* kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

HttpResponse busy(int status, unsigned seconds) {
  HttpResponse response = http_error(status);
  response.headers.push_back({"retry-after", std::to_string(seconds)});
  return response;
}

bool is_websocket(const HttpRequest& request) {
  const std::string* upgrade = request.header("upgrade");
  return upgrade && upgrade->size() == 9 &&
         std::equal(upgrade->begin(), upgrade->end(), "websocket",
                    [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

size_t HttpConnection::take(std::string_view bytes) {
  if (!incoming_) {
    incoming_ = std::make_unique<Incoming>(loop_.take_parser());
  }
  HttpParser& parser = *incoming_->parser;
  const size_t taken = parser.put(bytes);
  if (parser.state() == HttpParser::State::failed) {
    give_up(parser.error());
    return 0;
  }
  if (parser.state() == HttpParser::State::head) {
    // An empty line between requests begins none.
    if (taken > 0) loop_.give_parser(std::move(std::exchange(incoming_, nullptr)->parser));
    return taken;
  }
  if (!incoming_->begun) begin_request();
  // Each of these may answer; the request, and its parser, are gone then.
  if (incoming_ && !parser.piece().empty()) take_body(parser.piece());
  if (incoming_ && parser.state() == HttpParser::State::complete) end_body();
  return taken;
}

void HttpConnection::begin_request() {
  Incoming& incoming = *incoming_;
  HttpHead& head = incoming.parser->head();
  incoming.begun = true;
  incoming.begun_ns = monotonic_ns();
  incoming.http11 = head.http11;
  incoming.keep_alive = head.keep_alive && !loop_.draining();
  incoming.method = head.method;
  ++loop_.state().counters.requests;

  HttpRequest& request = incoming.request;
  request.method = std::move(head.method);
  request.headers = std::move(head.headers);
  request.peer = peer_;
  if (loop_.state().options.on_response) {
    if (const std::string* origin = request.header("origin")) incoming.origin = *origin;
  }
  const auto target = split_target(head.target);
  auto path = target ? percent_decoded(target->path) : std::nullopt;
  auto query = target ? parse_query(target->query) : std::nullopt;
  if (!path || !query) return refuse(400);
  request.path = std::move(*path);
  request.query = std::move(*query);

  if (!is_in_time()) return;
  auto match = loop_.state().router.find(request.method, target->path);
  if (!match.route) {
    HttpResponse response = http_error(match.status);
    if (match.status == 204) response = {.status = 204};
    if (!match.allow.empty()) response.headers.push_back({"allow", std::move(match.allow)});
    return refuse(std::move(response));
  }
  incoming.route = match.route;
  request.parameters = std::move(match.parameters);
  if (!admit()) return;
  const bool has_body = incoming.parser->state() == HttpParser::State::body;
  if (has_body && head.expects_continue) output_.add(kContinue);
  if (match.route->upload) return begin_upload();
  if (has_body) request.body.reserve(std::min<uint64_t>(head.content_length, kReservedBody));
}

// Whether the client has not asked too often.
bool HttpConnection::is_in_time() {
  HttpServerState& state = loop_.state();
  if (state.options.most_per_second <= 0) return true;
  const unsigned wait = state.rate.take(peer_, incoming_->begun_ns);
  if (wait > 0) refuse(busy(429, wait));
  return wait == 0;
}

// What is known before the body has come.
bool HttpConnection::admit() {
  const HttpServerState& state = loop_.state();
  if (state.options.check) {
    if (auto refusal = state.options.check(incoming_->request)) {
      refuse(std::move(*refusal));
      return false;
    }
  }
  if (incoming_->parser->head().content_length > incoming_->route->most_body) {
    refuse(413);
    return false;
  }
  if (state.counters.under_way >= state.options.most_under_way) {
    refuse(busy(503, 1));
    return false;
  }
  return true;
}

void HttpConnection::take_body(std::string_view piece) {
  Incoming& incoming = *incoming_;
  incoming.body += piece.size();
  const uint64_t most = incoming.refusal ? kSkippedBody : incoming.route->most_body;
  if (incoming.body > most) return give_up(413);
  if (incoming.refusal) return;
  if (incoming.upload) {
    incoming.upload_full = !incoming.upload->offer(piece);
    return;
  }
  std::shared_ptr<HttpBodyShare>& share = incoming.request.share;
  if (!share) share = std::make_shared<HttpBodyShare>(loop_.state().body_memory);
  if (share->add(piece.size()) > loop_.state().options.most_body_memory) return give_up(503);
  incoming.request.body += piece;
}

void HttpConnection::end_body() {
  loop_.give_parser(std::move(incoming_->parser));
  if (incoming_->refusal) return respond(std::move(*incoming_->refusal));
  if (incoming_->upload) {
    incoming_->upload->finish();
  } else {
    dispatch();
  }
}

void HttpConnection::dispatch() {
  const HttpRoute& route = *incoming_->route;
  if (route.websocket && (!route.handler || is_websocket(incoming_->request))) {
    return begin_websocket();
  }
  under_way_ = true;
  ++loop_.state().counters.under_way;
  guarded([&] { route.handler(std::move(incoming_->request), loop_.reply(id_)); });
}

void HttpConnection::begin_upload() {
  incoming_->upload = std::make_shared<HttpPipe>();
  incoming_->upload->set_wake(loop_.wake_for(id_));
  under_way_ = true;
  ++loop_.state().counters.under_way;
  guarded([&] {
    incoming_->route->upload(std::move(incoming_->request), HttpBodyReader(incoming_->upload),
                             loop_.reply(id_));
  });
}

void HttpConnection::begin_websocket() {
  const HttpRequest& request = incoming_->request;
  const std::string* version = request.header("sec-websocket-version");
  const std::string* key = request.header("sec-websocket-key");
  const std::string accept = key ? websocket_accept(*key) : "";
  if (!is_websocket(request) || !version || *version != "13") {
    HttpResponse response = http_error(426);
    response.headers = {{"upgrade", "websocket"}, {"sec-websocket-version", "13"}};
    return respond(std::move(response));
  }
  if (accept.empty() || !incoming_->http11) return respond(http_error(400));
  const HttpServerOptions& options = loop_.state().options;
  const auto socket = loop_.websocket(id_);
  websocket_ = std::make_unique<WebSocketSession>(socket, options.most_websocket_message);
  const std::unique_ptr<Incoming> taken = std::move(incoming_);
  output_.add(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
      "sec-websocket-accept: " +
      accept + "\r\n\r\n");
  websocket_->open(taken->route->websocket(taken->request, socket), output_.pending());
}

void HttpConnection::refuse(int status) { refuse(http_error(status)); }

// Answers without a handler: after a short body, else at once, closing the connection.
void HttpConnection::refuse(HttpResponse response) {
  if (response.status == 503 || response.status == 429) ++loop_.state().counters.refused;
  const HttpHead& head = incoming_->parser->head();
  if (head.expects_continue || head.content_length > kSkippedBody) {
    incoming_->keep_alive = false;
    respond(std::move(response));
  } else {
    incoming_->refusal = std::move(response);
  }
}

// Answers a request that is not read to its end.
void HttpConnection::give_up(int status) {
  incoming_->keep_alive = false;
  under_way_ = false;  // an upload's handler may still reply, in vain
  if (status == 503) ++loop_.state().counters.refused;
  HttpResponse response = status == 503 ? busy(503, 1) : http_error(status);
  respond(incoming_->refusal ? std::move(*incoming_->refusal) : std::move(response));
}

std::stop_token HttpConnection::client_gone() {
  if (!under_way_) {  // an upload that was given up
    std::stop_source ended;
    ended.request_stop();
    return ended.get_token();
  }
  std::optional<std::stop_source>& gone = incoming_->gone;
  if (!gone) gone.emplace();
  set_interest({.read = interest_.read, .write = interest_.write, .end = watches_end()});
  return gone->get_token();
}

// Whether the handler wants to know that the client is gone.
bool HttpConnection::watches_end() const {
  return !closed_ && under_way_ && incoming_ && incoming_->gone && incoming_->http11 &&
         !incoming_->asked;
}

// One that sends no more may still wait for its answer, or be gone. An interim response (RFC 9110,
// section 15.2) tells: for one that is gone the kernel answers by a reset, which closes the
// connection.
void HttpConnection::ask_client() {
  incoming_->asked = true;
  output_.add(kContinue);
}

void HttpConnection::answer(HttpResponse response) {
  if (closed_ || !under_way_) return;
  under_way_ = false;
  respond(std::move(response));
  go_on();
}

void HttpConnection::respond(HttpResponse response) {
  const std::unique_ptr<Incoming> request = std::move(incoming_);
  lingers_ = request->parser && request->parser->state() != HttpParser::State::complete;
  last_ = !request->keep_alive || lingers_ || loop_.draining();
  if (const auto& on_response = loop_.state().options.on_response) {
    std::string_view pattern;
    if (request->route) pattern = request->route->pattern;
    on_response({request->method, pattern, request->origin, request->begun_ns}, response);
  }
  HttpFraming framing = {.keep_alive = true, .http11 = request->http11, .length = {}};
  if (!response.source) framing.length = response.body.size();
  if (response.source && !request->http11) last_ = true;  // its end is the connection's
  framing.keep_alive = !last_;
  output_.add(http_head(response, framing, loop_.date()));
  if (request->method == "HEAD" || has_no_body(response.status)) return;
  if (!response.source) return output_.add(std::move(response.body));
  source_ = std::move(response.source);
  source_waits_ = false;
  in_chunks_ = request->http11;
  source_->set_wake(loop_.wake_for(id_));
  if (!response.body.empty())
    add_piece(std::string(in_chunks_ ? kChunkHead : 0, '0') + response.body);
}

}  // namespace hoist::net
