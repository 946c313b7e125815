#include "net/http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/monotonic.h"
#include "net/http/loop.h"
#include "net/http/target.h"

namespace hoist::net {
namespace {

constexpr size_t kBodyProgress = 16 << 10;  // so much of a body earns it further time
constexpr size_t kSkippedBody = 64 << 10;   // read and dropped rather than closing the connection
constexpr size_t kReservedBody = 64 << 10;  // before a byte of it has come
constexpr int kReadsAtOnce = 4;             // then other connections get a chance

}  // namespace

struct HttpConnection::Incoming {
  explicit Incoming(std::unique_ptr<HttpParser> given) : parser(std::move(given)) {}

  std::unique_ptr<HttpParser> parser;
  HttpRequest request;
  const HttpRoute* route = nullptr;
  std::optional<HttpResponse> refusal;  // to be sent when its body has been read
  uint64_t body = 0;                    // bytes so far
  uint64_t told = 0;                    // bytes when the deadline was set
  bool begun = false;                   // the head is complete
  bool head_only = false;
  bool http11 = true;
  bool keep_alive = true;
};

HttpConnection::HttpConnection(HttpLoop& loop, UniqueFd socket, std::string peer, uint64_t id)
    : loop_(loop),
      transport_(std::move(socket)),
      peer_(std::move(peer)),
      id_(id),
      deadline_(loop.deadlines().add(this)) {}

HttpConnection::~HttpConnection() { loop_.deadlines().remove(deadline_); }

Status HttpConnection::start() {
  interest_ = {.read = true};
  Status watched = loop_.events().watch(transport_.fd(), interest_,
                                        [this](EventLoop::Ready what) { ready(what); });
  loop_.deadlines().set(deadline_, HttpWait::idle, monotonic_ns());
  return watched;
}

void HttpConnection::ready(EventLoop::Ready ready) {
  if (closed_) return;
  if (ready.broken) return close();
  if (ready.read) {
    if (under_way_ || output_.pending() > 0) {
      set_interest(false, interest_.write);
    } else {
      read_some();
    }
  }
  if (!closed_) settle();
}

void HttpConnection::read_some() {
  for (int i = 0; i < kReadsAtOnce; ++i) {
    size_t count = 0;
    const auto outcome = transport_.receive(loop_.buffer(), count);
    if (outcome == Transport::Outcome::wait) return;
    if (outcome == Transport::Outcome::closed) return close();
    if (lingers_) continue;
    const std::string_view bytes(loop_.buffer().data(), count);
    if (input_.empty()) {
      process(bytes);
    } else {
      input_ += bytes;
      process(std::exchange(input_, {}));
    }
    if (closed_ || under_way_ || output_.pending() > 0) return;
    if (count < loop_.buffer().size()) return;
  }
}

// Parses and dispatches until the bytes are used up or a reply has to come first.
void HttpConnection::process(std::string_view bytes) {
  processing_ = true;
  while (!bytes.empty() && !under_way_ && !last_) {
    const size_t taken = take(bytes);
    bytes.remove_prefix(taken);
    if (taken == 0) break;
  }
  processing_ = false;
  if (last_) {
    input_.clear();
  } else {
    input_.assign(bytes);
  }
  if (input_.empty()) input_.shrink_to_fit();
}

size_t HttpConnection::take(std::string_view bytes) {
  if (!incoming_) incoming_ = std::make_unique<Incoming>(loop_.take_parser());
  HttpParser& parser = *incoming_->parser;
  const size_t taken = parser.put(bytes);
  if (parser.state() == HttpParser::State::failed) {
    give_up(parser.error());
    return 0;
  }
  if (parser.state() == HttpParser::State::head) return taken;
  if (!incoming_->begun) begin_request();
  if (!last_ && !parser.piece().empty()) take_body(parser.piece());
  if (!last_ && parser.state() == HttpParser::State::complete) dispatch();
  return taken;
}

void HttpConnection::begin_request() {
  Incoming& incoming = *incoming_;
  HttpHead& head = incoming.parser->head();
  incoming.begun = true;
  incoming.http11 = head.http11;
  incoming.keep_alive = head.keep_alive && !loop_.draining();
  incoming.head_only = head.method == "HEAD";
  ++loop_.state().counters.requests;

  HttpRequest& request = incoming.request;
  request.method = std::move(head.method);
  request.headers = std::move(head.headers);
  request.peer = peer_;
  const auto target = split_target(head.target);
  auto path = target ? percent_decoded(target->path) : std::nullopt;
  auto query = target ? parse_query(target->query) : std::nullopt;
  if (!path || !query) return refuse(400);
  request.path = std::move(*path);
  request.query = std::move(*query);

  auto match = loop_.state().router.find(request.method, target->path);
  if (!match.route) return refuse(match.status, std::move(match.allow));
  incoming.route = match.route;
  request.parameters = std::move(match.parameters);
  if (head.content_length > match.route->most_body) return refuse(413);
  if (loop_.state().counters.under_way >= loop_.state().options.most_under_way) return refuse(503);
  const bool has_body = incoming.parser->state() == HttpParser::State::body;
  if (has_body) request.body.reserve(std::min<uint64_t>(head.content_length, kReservedBody));
  if (has_body && head.expects_continue) output_.add("HTTP/1.1 100 Continue\r\n\r\n");
}

void HttpConnection::take_body(std::string_view piece) {
  Incoming& incoming = *incoming_;
  incoming.body += piece.size();
  const uint64_t most = incoming.refusal ? kSkippedBody : incoming.route->most_body;
  if (incoming.body > most) {
    give_up(incoming.refusal ? incoming.refusal->status : 413);
  } else if (!incoming.refusal) {
    incoming.request.body += piece;
  }
}

void HttpConnection::dispatch() {
  loop_.give_parser(std::move(incoming_->parser));
  if (incoming_->refusal) return respond(std::move(*incoming_->refusal));
  under_way_ = true;
  ++loop_.state().counters.under_way;
  incoming_->route->handler(std::move(incoming_->request), loop_.reply(id_));
}

// Answers without a handler: after a short body, else at once, closing the connection.
void HttpConnection::refuse(int status, std::string allow) {
  HttpResponse response = http_error(status);
  if (status == 204) response = {.status = 204, .content_type = {}, .headers = {}, .body = {}};
  if (!allow.empty()) response.headers.push_back({"allow", std::move(allow)});
  if (status == 503 || status == 429) {
    ++loop_.state().counters.refused;
    response.headers.push_back({"retry-after", "1"});
  }
  const HttpHead& head = incoming_->parser->head();
  if (head.expects_continue || head.content_length > kSkippedBody) {
    incoming_->keep_alive = false;
    respond(std::move(response));
  } else {
    incoming_->refusal = std::move(response);
  }
}

// Answers a request that can't be read on.
void HttpConnection::give_up(int status) {
  incoming_->keep_alive = false;
  HttpResponse response = incoming_->refusal ? std::move(*incoming_->refusal) : http_error(status);
  respond(std::move(response));
}

void HttpConnection::answer(HttpResponse response) {
  if (closed_ || !under_way_) return;
  under_way_ = false;
  respond(std::move(response));
  if (processing_) return;
  if (!input_.empty()) process(std::exchange(input_, {}));
  settle();
}

void HttpConnection::respond(HttpResponse response) {
  const std::unique_ptr<Incoming> request = std::move(incoming_);
  last_ = !request->keep_alive || loop_.draining();
  lingers_ = request->parser != nullptr;
  const HttpFraming framing = {
      .keep_alive = !last_, .http11 = request->http11, .length = response.body.size()};
  output_.add(http_head(response, framing, loop_.date()));
  if (!request->head_only && response.status >= 200 && response.status != 204 &&
      response.status != 304) {
    output_.add(std::move(response.body));
  }
}

// After every event: sends what it can, and says what the connection waits for.
void HttpConnection::settle() {
  if (closed_) return;
  const size_t pending = output_.pending();
  const auto sent = output_.flush(transport_);
  if (sent == Transport::Outcome::closed) return close();
  const bool blocked = output_.pending() > 0;
  if (last_ && !blocked) return linger();
  HttpWait wait = HttpWait::idle;
  bool renewed = false;
  if (blocked) {
    wait = HttpWait::write;
    renewed = output_.pending() < pending;
  } else if (under_way_) {
    wait = HttpWait::nothing;
  } else if (incoming_ && incoming_->begun) {
    wait = HttpWait::body;
    renewed = incoming_->body >= incoming_->told + kBodyProgress;
    if (renewed) incoming_->told = incoming_->body;
  } else if (incoming_) {
    wait = HttpWait::head;
    renewed = incoming_->told == 0;
    incoming_->told = 1;
  }
  if (wait == HttpWait::idle || renewed || wait != deadline_->wait) {
    loop_.deadlines().set(deadline_, wait, monotonic_ns());
  }
  // While a request is under way reading stays on: most clients send nothing then.
  set_interest(!blocked && (interest_.read || !under_way_), blocked);
}

// Closes; where the client may still be sending, only after it has had time to read the answer: a
// socket with unread bytes is reset, and the answer lost.
void HttpConnection::linger() {
  if (!lingers_) return close();
  if (deadline_->wait == HttpWait::linger) return;
  ::shutdown(transport_.fd(), SHUT_WR);
  loop_.deadlines().set(deadline_, HttpWait::linger, monotonic_ns());
  set_interest(true, false);
}

void HttpConnection::expire() {
  const HttpWait wait = deadline_->wait;
  if (wait != HttpWait::linger) ++loop_.state().counters.timeouts;
  if (wait != HttpWait::head && wait != HttpWait::body) return close();
  give_up(408);
  settle();
}

void HttpConnection::finish() {
  if (closed_) return;
  if (incoming_) {
    incoming_->keep_alive = false;
  } else if (output_.pending() == 0) {
    close();
  } else {
    last_ = true;
  }
}

void HttpConnection::close() {
  if (closed_) return;
  closed_ = true;
  loop_.events().remove(transport_.fd());
  loop_.deadlines().set(deadline_, HttpWait::nothing, 0);
  loop_.drop(id_);
}

void HttpConnection::set_interest(bool read, bool write) {
  if (interest_.read == read && interest_.write == write) return;
  interest_ = {read, write};
  if (!loop_.events().change(transport_.fd(), interest_)) close();
}

}  // namespace hoist::net
