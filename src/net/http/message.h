// What a handler sees of HTTP: the request, the response, and the reply that carries it back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/body_share.h"

namespace hoist::net {

struct HttpHeader {
  std::string name;  // in lower case
  std::string value;
};

struct HttpRequest {
  std::string method = {};  // "GET"
  std::string path = {};    // percent-decoded, without the query
  std::vector<std::pair<std::string, std::string>> query = {};  // decoded, in order
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::string peer = {};                      // the client's address; "unix" on a UNIX socket
  std::vector<std::string> parameters = {};   // what the pattern's {…} matched, decoded, in order
  std::shared_ptr<HttpBodyShare> share = {};  // counts `body`; null where it is empty

  // The first of that name; null without one.
  const std::string* header(std::string_view lower_case_name) const;
  const std::string* argument(std::string_view name) const;
};

// A response's body in pieces, made when the client has taken the earlier ones. On the loop's
// thread; it is destroyed when the response is sent or the client gone.
class HttpBodySource {
 public:
  virtual ~HttpBodySource() = default;
  // `failed` closes the connection, so that the client doesn't take the body for a whole one.
  enum class Next { piece, later, end, failed };
  // Appends the next piece: tens of KiB are best. After `later` it is asked again when `wake` has
  // been called.
  virtual Next next(std::string& piece) = 0;
  // Before the first next(). `wake` may be called from any thread, at any time.
  virtual void set_wake(std::function<void()> wake) {}
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";  // "": no such header
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::shared_ptr<HttpBodySource> source = {};  // follows `body`; sent in chunks
};

// Where replies go: a connection's loop, or a test. `request` tells its requests apart.
class HttpReplyPath {
 public:
  virtual ~HttpReplyPath() = default;
  virtual void send(uint64_t request, HttpResponse response) = 0;  // from any thread
  // As HttpReply has them. A path without a loop runs the work at once, and knows of no client.
  virtual std::stop_token client_gone([[maybe_unused]] uint64_t request) { return {}; }
  virtual void run(std::function<void()> work) { work(); }
};

// The answer to one request. It may be sent from any thread, once, now or later; the client may be
// gone by then, and nobody is told. A reply that is dropped unsent answers 500.
class HttpReply {
 public:
  HttpReply(std::shared_ptr<HttpReplyPath> path, uint64_t request)
      : path_(std::move(path)), request_(request) {}
  HttpReply(HttpReply&&) = default;
  HttpReply& operator=(HttpReply&& other) noexcept;
  ~HttpReply();

  void send(HttpResponse response);
  // Before send(), on the loop's thread, in the handler or in run(): requested once the connection
  // is lost, so that what takes long may give up. A client that has closed no more than its sending
  // half still waits for its answer.
  std::stop_token client_gone() const { return path_->client_gone(request_); }
  // Before send(), from any thread: `work` runs on the loop's thread, as a handler does. Dropped
  // where the loop has ended.
  void run(std::function<void()> work) const;

 private:
  std::shared_ptr<HttpReplyPath> path_;  // null once sent
  uint64_t request_;
};

// Runs on a loop's thread, where other connections wait meanwhile: what takes long answers later.
using HttpHandler = std::function<void(HttpRequest request, HttpReply reply)>;

// `{"detail": …}` with the status's phrase, or with `detail`: the form of every error that the
// server itself answers.
HttpResponse http_error(int status, std::string_view detail = {});
// "Not Found"; "Unknown" where the status has no phrase.
std::string_view http_phrase(int status);

}  // namespace hoist::net
