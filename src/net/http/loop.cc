#include "net/http/loop.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/monotonic.h"
#include "net/http/guarded.h"

namespace hoist::net {
namespace {

constexpr size_t kBuffer = 64 << 10;
constexpr size_t kSpareParsers = 256;

}  // namespace

// Replies outlive their loop where a handler keeps them; then they are dropped.
class HttpLoop::Replies : public HttpReplyPath, public WebSocketPath {
 public:
  Replies(HttpLoop& loop, std::shared_ptr<Mailbox> mailbox)
      : loop_(loop), mailbox_(std::move(mailbox)) {}

  void send(uint64_t request, HttpResponse response) override {
    if (std::this_thread::get_id() == thread_ && loop_.current_ == request) {
      loop_.answer(request, std::move(response));
      return;
    }
    mailbox_->post([this, request, response = std::move(response)]() mutable {
      loop_.answer(request, std::move(response));
    });
  }

  std::stop_token client_gone(uint64_t request) override {
    HttpConnection* connection = loop_.find(request);
    if (connection) return connection->client_gone();
    std::stop_source gone;
    gone.request_stop();
    return gone.get_token();
  }

  void run(std::function<void()> work) override {
    mailbox_->post([work = std::move(work)] { guarded(work); });
  }

  void deliver(uint64_t connection, std::string frame, bool last) override {
    mailbox_->post([this, connection, last, frame = std::move(frame)]() mutable {
      if (HttpConnection* to = loop_.find(connection)) to->deliver(std::move(frame), last);
    });
  }

  // The loop's; none while it doesn't run.
  void set_thread(std::thread::id thread) { thread_ = thread; }

 private:
  HttpLoop& loop_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<std::thread::id> thread_;
};

HttpLoop::HttpLoop(HttpServerState& state)
    : state_(state),
      deadlines_({0, state.options.head_ms, state.options.body_ms, state.options.idle_ms,
                  state.options.write_ms, state.options.linger_ms, state.options.ping_ms}),
      buffer_(kBuffer) {}

Result<std::unique_ptr<HttpLoop>> HttpLoop::create(HttpServerState& state) {
  std::unique_ptr<HttpLoop> loop(new HttpLoop(state));
  auto events = EventLoop::create();
  if (!events) return events.error();
  loop->events_ = std::move(*events);
  auto mailbox = Mailbox::create(loop->events_);
  if (!mailbox) return mailbox.error();
  loop->mailbox_ = *mailbox;
  loop->replies_ = std::make_shared<Replies>(*loop, loop->mailbox_);
  return loop;
}

HttpLoop::~HttpLoop() {
  if (mailbox_) mailbox_->close();
  for (const auto& [id, connection] : connections_) connection->close();
}

void HttpLoop::adopt(UniqueFd socket, std::string peer) {
  ++count_;
  const auto shared = std::make_shared<UniqueFd>(std::move(socket));
  const bool posted =
      mailbox_->post([this, shared, peer = std::move(peer)] { begin(std::move(*shared), peer); });
  if (!posted) --count_;
}

void HttpLoop::begin(UniqueFd socket, std::string peer) {
  const uint64_t id = next_++;
  ++state_.counters.connections;
  std::unique_ptr<TlsStream> tls;
  const auto context = state_.tls();
  const bool encrypted = context && peer != "unix";
  if (encrypted) tls = TlsStream::accept(*context, socket.get());
  const bool ready = !encrypted || tls;
  const auto [place, added] = connections_.emplace(
      id, std::make_unique<HttpConnection>(*this, Transport(std::move(socket), std::move(tls)),
                                           std::move(peer), id));
  if (!place->second->start() || !ready || draining_) place->second->close();
}

HttpConnection* HttpLoop::find(uint64_t connection) {
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : found->second.get();
}

void HttpLoop::answer(uint64_t connection, HttpResponse response) {
  --state_.counters.under_way;
  if (HttpConnection* to = find(connection)) to->answer(std::move(response));
}

std::shared_ptr<WebSocket> HttpLoop::websocket(uint64_t connection) {
  return std::make_shared<WebSocket>(replies_, connection, state_.options.most_websocket_queue);
}

std::function<void()> HttpLoop::wake_for(uint64_t connection) {
  return [this, mailbox = mailbox_, connection] {
    mailbox->post([this, connection] {
      if (HttpConnection* to = find(connection)) to->resume();
    });
  };
}

HttpReply HttpLoop::reply(uint64_t connection) { return HttpReply(replies_, connection); }

void HttpLoop::drain(uint64_t grace_ms) {
  mailbox_->post([this, grace_ms] { begin_drain(grace_ms); });
}

void HttpLoop::begin_drain(uint64_t grace_ms) {
  const uint64_t by = monotonic_ns() + grace_ms * 1'000'000;
  drained_by_ns_ = draining_ ? std::min(drained_by_ns_, by) : by;
  draining_ = true;
  for (const auto& [id, connection] : connections_) connection->finish();
}

Status HttpLoop::run(const std::function<int()>& each_time) {
  replies_->set_thread(std::this_thread::get_id());
  Status status;
  while (status && !(draining_ && connections_.empty())) {
    const uint64_t now = monotonic_ns();
    int wait = deadlines_.milliseconds(now);
    const auto wait_at_most = [&](int milliseconds) {
      if (milliseconds >= 0) wait = wait < 0 ? milliseconds : std::min(wait, milliseconds);
    };
    if (each_time) wait_at_most(each_time());
    if (draining_) {
      const uint64_t left = drained_by_ns_ - std::min(now, drained_by_ns_);
      wait_at_most(static_cast<int>(std::min<uint64_t>(left / 1'000'000 + 1, 1000)));
    }
    status = events_.run_once(wait);
    expire();
    bury();
  }
  replies_->set_thread({});
  return status;
}

void HttpLoop::expire() {
  const uint64_t now = monotonic_ns();
  while (HttpConnection* connection = deadlines_.expired(now)) connection->expire();
  if (!draining_ || now < drained_by_ns_) return;
  for (const auto& [id, connection] : connections_) connection->close();
}

std::unique_ptr<HttpParser> HttpLoop::take_parser() {
  if (parsers_.empty()) return std::make_unique<HttpParser>(state_.options.most_head);
  auto parser = std::move(parsers_.back());
  parsers_.pop_back();
  parser->reset();
  return parser;
}

void HttpLoop::give_parser(std::unique_ptr<HttpParser> parser) {
  if (parser && parsers_.size() < kSpareParsers) parsers_.push_back(std::move(parser));
}

void HttpLoop::drop(uint64_t connection) {
  dropped_.push_back(connection);
  --count_;
  --state_.counters.connections;
}

// Not at once: they may be among the callers. Out of the table first: their ends call handlers.
void HttpLoop::bury() {
  std::vector<std::unique_ptr<HttpConnection>> buried;
  for (const uint64_t connection : dropped_) {
    const auto found = connections_.find(connection);
    buried.push_back(std::move(found->second));
    connections_.erase(found);
  }
  dropped_.clear();
}

}  // namespace hoist::net
