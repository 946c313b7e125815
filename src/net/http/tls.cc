#include "net/http/tls.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace hoist::net {
namespace {

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(::BIO_get_data(bio)));
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a client that hangs up would raise SIGPIPE.
int write_socket(BIO* bio, const char* bytes, int size) {
  ::BIO_clear_retry_flags(bio);
  const ssize_t count =
      ::send(socket_of(bio), bytes, static_cast<size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

int read_socket(BIO* bio, char* bytes, int size) {
  ::BIO_clear_retry_flags(bio);
  const ssize_t count = ::recv(socket_of(bio), bytes, static_cast<size_t>(size), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quiet socket");
    ::BIO_meth_set_write(made, write_socket);
    ::BIO_meth_set_read(made, read_socket);
    ::BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kHttp[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (::SSL_select_next_proto(&found, size, kHttp, sizeof kHttp - 1, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

Error tls_error(ErrorCode code, std::string_view what, const std::string& file) {
  char reason[256] = "no reason given";
  if (const unsigned long number = ::ERR_get_error(); number != 0) {
    ::ERR_error_string_n(number, reason, sizeof reason);
  }
  ::ERR_clear_error();
  return fail(code, fmt::format("{} {}: {}", what, file, reason));
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::string& certificate_file,
                                                     const std::string& key_file) {
  ::ERR_clear_error();
  SSL_CTX* context = ::SSL_CTX_new(::TLS_server_method());
  if (!context) return tls_error(ErrorCode::internal, "cannot begin TLS for", certificate_file);
  std::shared_ptr<TlsContext> loaded(new TlsContext(context));
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // clients keep tickets
  ::SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  if (::SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return tls_error(ErrorCode::io, "cannot use the certificate", certificate_file);
  }
  if (::SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return tls_error(ErrorCode::io, "cannot use the key", key_file);
  }
  if (::SSL_CTX_check_private_key(context) != 1) {
    return tls_error(ErrorCode::invalid_argument, "the key is not the certificate's:", key_file);
  }
  return loaded;
}

TlsContext::~TlsContext() { ::SSL_CTX_free(context_); }

std::unique_ptr<TlsStream> TlsStream::accept(const TlsContext& context, int socket) {
  SSL* stream = ::SSL_new(context.context_);
  BIO* bio = ::BIO_new(socket_method());
  if (!stream || !bio) {
    ::SSL_free(stream);
    ::BIO_free(bio);
    return nullptr;
  }
  ::BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(stream, bio, bio);
  ::SSL_set_accept_state(stream);
  return std::unique_ptr<TlsStream>(new TlsStream(stream));
}

TlsStream::~TlsStream() { ::SSL_free(stream_); }

TlsStream::Outcome TlsStream::outcome_of(int result) {
  const int error = ::SSL_get_error(stream_, result);
  ::ERR_clear_error();
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  return wants_write_ || error == SSL_ERROR_WANT_READ ? Outcome::wait : Outcome::closed;
}

TlsStream::Outcome TlsStream::receive(std::span<char> into, size_t& count) {
  const int result = ::SSL_read_ex(stream_, into.data(), into.size(), &count);
  if (result != 1) return outcome_of(result);
  wants_write_ = false;
  return Outcome::done;
}

TlsStream::Outcome TlsStream::send(std::span<const iovec> parts, size_t& count) {
  const int result = ::SSL_write_ex(stream_, parts[0].iov_base, parts[0].iov_len, &count);
  if (result == 1) return Outcome::done;
  const Outcome outcome = outcome_of(result);
  wants_write_ = false;  // the caller waits for that anyway
  return outcome;
}

void TlsStream::shut_down() {
  if (established()) ::SSL_shutdown(stream_);
  ::ERR_clear_error();
}

bool TlsStream::established() const { return ::SSL_is_init_finished(stream_) == 1; }

bool TlsStream::has_received() const { return ::SSL_pending(stream_) > 0; }

}  // namespace hoist::net
