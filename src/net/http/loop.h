// One thread's connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http/connection.h"
#include "net/http/deadlines.h"
#include "net/http/message.h"
#include "net/http/parser.h"
#include "net/http/response_text.h"
#include "net/http/server_state.h"
#include "net/http/websocket.h"
#include "net/mailbox.h"

namespace hoist::net {

class HttpLoop {
 public:
  // `state` must outlive it.
  static Result<std::unique_ptr<HttpLoop>> create(HttpServerState& state);
  ~HttpLoop();

  // From any thread.
  void adopt(UniqueFd socket, std::string peer);
  void drain(uint64_t grace_ms);
  void wake() const { mailbox_->wake(); }  // from a signal's handler, too
  size_t connections() const { return count_; }

  // Serves until drain(); returns when the last connection is closed. `each_time` runs before each
  // wait, and says how many milliseconds it may take; -1: any.
  Status run(const std::function<int()>& each_time = {});

  EventLoop& events() { return events_; }

  // For its connections.
  HttpServerState& state() { return state_; }
  std::vector<char>& buffer() { return buffer_; }
  std::string_view date() { return date_.text(); }
  HttpDeadlines& deadlines() { return deadlines_; }
  bool draining() const { return draining_; }
  // The connection whose bytes are processed now: 0 between them. Only a reply to its own request
  // is sent at once; others wait in the mailbox, so that no connection runs inside another.
  void set_current(uint64_t connection) { current_ = connection; }
  HttpReply reply(uint64_t connection);
  std::shared_ptr<WebSocket> websocket(uint64_t connection);
  std::function<void()> wake_for(uint64_t connection);  // has it resume(); from any thread
  std::unique_ptr<HttpParser> take_parser();
  void give_parser(std::unique_ptr<HttpParser> parser);
  void drop(uint64_t connection);  // when this round ends

 private:
  class Replies;

  explicit HttpLoop(HttpServerState& state);
  void begin(UniqueFd socket, std::string peer);
  HttpConnection* find(uint64_t connection);
  void answer(uint64_t connection, HttpResponse response);
  void begin_drain(uint64_t grace_ms);
  void expire();
  void bury();

  HttpServerState& state_;
  EventLoop events_;
  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<Replies> replies_;
  HttpDeadlines deadlines_;
  HttpDate date_;
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<HttpParser>> parsers_;
  std::unordered_map<uint64_t, std::unique_ptr<HttpConnection>> connections_;
  std::vector<uint64_t> dropped_;
  std::atomic<size_t> count_ = 0;
  uint64_t next_ = 1;
  uint64_t current_ = 0;
  uint64_t drained_by_ns_ = 0;
  bool draining_ = false;
};

}  // namespace hoist::net
