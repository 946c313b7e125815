// TLS by OpenSSL on non-blocking sockets: 1.2 and 1.3, HTTP/1.1 by ALPN.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace hoist::net {

// A certificate with its key; shared by the connections that began under it.
class TlsContext {
 public:
  // PEM files: the certificate, followed by those that sign it, and its private key. `io` where one
  // can't be read, `invalid_argument` where they don't belong together; OpenSSL's reason is in it.
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate_file,
                                                  const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsStream;
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* const context_;
};

// The server's side of one connection. The handshake is part of the first receive() calls.
class TlsStream {
 public:
  // `socket` must outlive it. Null where there is no memory.
  static std::unique_ptr<TlsStream> accept(const TlsContext& context, int socket);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  enum class Outcome { done, wait, closed };
  Outcome receive(std::span<char> into, size_t& count);
  Outcome send(std::span<const iovec> parts, size_t& count);
  void shut_down();  // says that no more is sent

  bool established() const;
  bool has_received() const;  // bytes that receive() gives without the socket
  bool wants_write() const { return wants_write_; }  // to go on receiving

 private:
  explicit TlsStream(ssl_st* stream) : stream_(stream) {}
  Outcome outcome_of(int result);

  ssl_st* const stream_;
  bool wants_write_ = false;
};

}  // namespace hoist::net
