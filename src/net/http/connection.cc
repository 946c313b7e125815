#include "net/http/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/monotonic.h"
#include "net/http/incoming.h"
#include "net/http/loop.h"

namespace hoist::net {
namespace {

constexpr size_t kBodyProgress = 16 << 10;  // so much of a body earns it further time
constexpr size_t kFullOutput = 128 << 10;   // a source is not asked for more
constexpr size_t kSourceAtOnce = 1 << 20;   // then other connections get a chance
constexpr int kReadsAtOnce = 4;             // so, too

}  // namespace

HttpConnection::HttpConnection(HttpLoop& loop, Transport transport, std::string peer, uint64_t id)
    : loop_(loop),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      id_(id),
      deadline_(loop.deadlines().add(this)) {}

HttpConnection::~HttpConnection() { loop_.deadlines().remove(deadline_); }

Status HttpConnection::start() {
  interest_ = {.read = true};
  Status watched = loop_.events().watch(transport_.fd(), interest_,
                                        [this](EventLoop::Ready what) { ready(what); });
  loop_.deadlines().set(deadline_, transport_.established() ? HttpWait::idle : HttpWait::head,
                        monotonic_ns());
  return watched;
}

void HttpConnection::ready(EventLoop::Ready ready) {
  if (closed_) return;
  if (ready.broken) return close();
  const bool reads = ready.read || (ready.write && transport_.wants_write());
  if (reads && !may_read()) {
    set_interest({.write = interest_.write, .end = interest_.end});
  } else if (reads) {
    read_some();
  }
  if (ready.end && watches_end()) ask_client();
  settle();
  read_received();
}

// Whether further bytes of requests are of use now, rather than a reply first.
bool HttpConnection::may_parse() const {
  if (last_ || source_) return false;
  return !under_way_ || (incoming_->upload && incoming_->parser && !incoming_->upload_full);
}

bool HttpConnection::may_read() const {
  return (last_ && lingers_) || (may_parse() && output_.pending() == 0);
}

void HttpConnection::read_some() {
  for (int i = 0; i < kReadsAtOnce && may_read(); ++i) {
    size_t count = 0;
    const auto outcome = transport_.receive(loop_.buffer(), count);
    if (outcome == Transport::Outcome::wait) return;
    if (outcome == Transport::Outcome::closed) return close();
    if (last_) continue;  // lingers
    const std::string_view bytes(loop_.buffer().data(), count);
    if (input_.empty()) {
      process(bytes);
    } else {
      input_ += bytes;
      process(std::exchange(input_, {}));
    }
    if (closed_ || (count < loop_.buffer().size() && !transport_.has_received())) return;
  }
}

// Parses and dispatches until the bytes are used up or a reply has to come first. Output does not
// hold up what has been read: the responses to pipelined requests go out together.
void HttpConnection::process(std::string_view bytes) {
  processing_ = true;
  loop_.set_current(id_);
  while (!bytes.empty() && may_parse() && output_.pending() <= kFullOutput) {
    if (websocket_) {
      const auto outcome = websocket_->receive(bytes, output_);
      last_ = outcome != WebSocketSession::Outcome::open;
      lingers_ = outcome == WebSocketSession::Outcome::failed;
      bytes = {};
      break;
    }
    const size_t taken = take(bytes);
    bytes.remove_prefix(taken);
    if (taken == 0) break;
  }
  processing_ = false;
  loop_.set_current(0);
  if (last_ && !bytes.empty()) lingers_ = true;
  input_.assign(last_ ? std::string_view() : bytes);
  if (input_.empty()) input_.shrink_to_fit();
}

// After something else than bytes has changed what may be done.
void HttpConnection::go_on() {
  if (processing_ || closed_) return;
  if (!input_.empty()) process(std::exchange(input_, {}));
  settle();
  read_received();
}

// What TLS has already taken from the socket, of which the loop hears nothing.
void HttpConnection::read_received() {
  while (!closed_ && transport_.has_received() && may_read()) {
    read_some();
    settle();
  }
}

void HttpConnection::deliver(std::string frame, bool last) {
  if (closed_ || !websocket_) return;
  websocket_->deliver(std::move(frame), last, output_);
  settle();
}

void HttpConnection::resume() {
  source_waits_ = false;
  if (incoming_) incoming_->upload_full = false;
  go_on();
}

void HttpConnection::add_piece(std::string piece) {
  if (in_chunks_) {
    fmt::format_to_n(piece.data(), kChunkHead, "{:08x}\r\n", piece.size() - kChunkHead);
    piece += "\r\n";
  }
  output_.add(std::move(piece));
}

// Asks the response's source for more. False: it has failed.
bool HttpConnection::fill_output() {
  while (source_ && !source_waits_ && output_.pending() < kFullOutput) {
    const size_t head = in_chunks_ ? kChunkHead : 0;
    std::string piece(head, '0');
    const auto next = source_->next(piece);
    if (next == HttpBodySource::Next::failed) return false;
    source_waits_ = next == HttpBodySource::Next::later;
    if (piece.size() > head) add_piece(std::move(piece));
    if (next == HttpBodySource::Next::end) {
      if (in_chunks_) output_.add("0\r\n\r\n");
      source_.reset();
    }
  }
  return true;
}

// Whether some of the output was sent. It closes where that fails.
bool HttpConnection::send_some() {
  size_t sent = 0;
  while (sent < kSourceAtOnce) {
    if (!fill_output()) {
      close();
      return false;
    }
    const size_t pending = output_.pending();
    if (pending == 0) break;
    const auto outcome = output_.flush(transport_);
    const size_t count = pending - output_.pending();
    sent += count;
    if (websocket_) websocket_->sent(count);
    if (outcome == Transport::Outcome::closed) {
      close();
      return false;
    }
    if (outcome == Transport::Outcome::wait) break;
  }
  return sent > 0;
}

// After every event: sends what it can, and says what the connection waits for.
void HttpConnection::settle() {
  bool progress = false;
  while (!closed_ && send_some()) {
    progress = true;
    // Requests that the output held up.
    if (input_.empty() || output_.pending() > 0 || !may_parse()) break;
    process(std::exchange(input_, {}));
  }
  if (closed_) return;
  const bool blocked = output_.pending() > 0 || (source_ && !source_waits_);
  if (last_ && !blocked && !source_) return linger();
  wait_for_next(progress);
  // While a request is under way reading stays on: most clients send nothing then.
  const bool read = !blocked && !source_ && (interest_.read || may_read());
  set_interest({.read = read, .write = blocked || transport_.wants_write(), .end = watches_end()});
}

void HttpConnection::wait_for_next(bool progress) {
  HttpWait wait = HttpWait::idle;
  bool renewed = true;
  if (output_.pending() > 0) {
    wait = HttpWait::write;
    renewed = progress;
  } else if (websocket_) {
    wait = websocket_->closing() ? HttpWait::linger : HttpWait::ping;
    renewed = !websocket_->closing();
  } else if (!may_parse()) {
    wait = HttpWait::nothing;
  } else if (incoming_ && incoming_->begun) {
    wait = HttpWait::body;
    renewed = incoming_->body >= incoming_->paid + kBodyProgress;
    if (renewed) incoming_->paid = incoming_->body;
  } else if (incoming_ || !transport_.established()) {
    wait = HttpWait::head;
    renewed = incoming_ && !std::exchange(incoming_->timed, true);
  }
  if (renewed || wait != deadline_->wait) loop_.deadlines().set(deadline_, wait, monotonic_ns());
}

// Closes; where the client may still be sending, only after it has had time to read the answer: a
// socket with unread bytes is reset, and the answer lost.
void HttpConnection::linger() {
  if (!lingers_) {
    transport_.shut_down();
    return close();
  }
  if (deadline_->wait == HttpWait::linger) return;
  transport_.shut_down();
  loop_.deadlines().set(deadline_, HttpWait::linger, monotonic_ns());
  set_interest({.read = true});
}

void HttpConnection::expire() {
  const HttpWait wait = deadline_->wait;
  if (wait == HttpWait::ping && websocket_->ping(output_)) return settle();
  if (wait != HttpWait::linger) ++loop_.state().counters.timeouts;
  const bool answers = (wait == HttpWait::head || wait == HttpWait::body) && incoming_;
  if (!answers) return close();
  give_up(408);
  settle();
}

void HttpConnection::finish() {
  if (closed_) return;
  if (websocket_) {
    deliver(websocket_close_frame(websocket_code::kGoingAway, {}), true);
  } else if (incoming_) {
    incoming_->keep_alive = false;
  } else if (output_.pending() == 0 && !source_) {
    close();
  } else {
    last_ = true;
  }
}

void HttpConnection::close() {
  if (closed_) return;
  closed_ = true;
  if (under_way_ && incoming_->gone) incoming_->gone->request_stop();
  loop_.events().remove(transport_.fd());
  loop_.deadlines().set(deadline_, HttpWait::nothing, 0);
  loop_.drop(id_);
}

void HttpConnection::set_interest(EventLoop::Interest interest) {
  if (closed_ || interest == interest_) return;
  interest_ = interest;
  if (!loop_.events().change(transport_.fd(), interest_)) close();
}

}  // namespace hoist::net
