#include "net/http/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "net/http/server.h"
#include "net/http/testing/certificate.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::CertificateFiles;
using testing_http::Client;
using testing_http::RunningServer;
using testing_http::write_certificate;

// OpenSSL's client on a blocking socket.
class TlsClient {
 public:
  explicit TlsClient(const std::string& address, int most_version = TLS1_3_VERSION,
                     const std::string& protocols = {})
      : client_(address), context_(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free) {
    ::SSL_CTX_set_max_proto_version(context_.get(), most_version);
    if (most_version < TLS1_2_VERSION) ::SSL_CTX_set_security_level(context_.get(), 0);
    stream_.reset(::SSL_new(context_.get()));
    if (!protocols.empty()) {
      ::SSL_set_alpn_protos(stream_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
    }
    ::SSL_set_fd(stream_.get(), client_.fd());
    connected_ = ::SSL_connect(stream_.get()) == 1;
  }

  bool connected() const { return connected_; }
  std::string server_name() {
    const std::unique_ptr<X509, decltype(&::X509_free)> certificate(
        ::SSL_get1_peer_certificate(stream_.get()), &::X509_free);
    char name[64] = "";
    ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate.get()), NID_commonName, name,
                                sizeof name);
    return name;
  }
  std::string protocol() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    ::SSL_get0_alpn_selected(stream_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  void send(std::string_view text) {
    ::SSL_write(stream_.get(), text.data(), static_cast<int>(text.size()));
  }
  // Until the server says that it sends no more.
  std::string rest() {
    std::string text;
    char bytes[5000];
    int count = 0;
    while ((count = ::SSL_read(stream_.get(), bytes, sizeof bytes)) > 0) {
      text.append(bytes, static_cast<size_t>(count));
    }
    EXPECT_EQ(::SSL_get_error(stream_.get(), count), SSL_ERROR_ZERO_RETURN);
    return text;
  }

 private:
  Client client_;
  const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&::SSL_free)> stream_{nullptr, &::SSL_free};
  bool connected_ = false;
};

HttpRouter routes() {
  HttpRouter router;
  router.add("POST", "/echo", [](HttpRequest request, HttpReply reply) {
    reply.send({.body = std::move(request.body)});
  });
  return router;
}

class Tls : public testing::Test {
 protected:
  static std::string folder() {
    return testing::TempDir() + "hoist_tls_test_" + std::to_string(::getpid()) + "_";
  }
  ~Tls() override {
    for (const char* name : {"first", "second", "other"}) {
      std::remove((folder() + name + ".pem").c_str());
      std::remove((folder() + name + ".key").c_str());
    }
  }
  HttpServerOptions options() {
    HttpServerOptions options;
    options.threads = 2;
    options.certificate_file = files_.certificate;
    options.key_file = files_.key;
    return options;
  }

  const CertificateFiles files_ = write_certificate(folder(), "first");
};

std::string post(size_t size, bool last = true) {
  return "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) +
         (last ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n") + std::string(size, 'e');
}

TEST_F(Tls, EchoesSmallAndLarge) {
  RunningServer server(routes(), options());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const size_t size : {0, 1, 16'000, 16'384, 16'385, 5'000'000}) {
      TlsClient client(server.address(), version);
      ASSERT_TRUE(client.connected());
      client.send(post(size));
      const std::string answer = client.rest();
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
      EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::string(size, 'e'))) << size;
    }
  }
}

// Several requests in one record: the loop hears of the socket once.
TEST_F(Tls, PipelinedRequests) {
  RunningServer server(routes(), options());
  TlsClient client(server.address());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += post(100, false);
  client.send(requests + post(50'000, false) + post(0));
  const std::string answer = client.rest();
  size_t count = 0;
  for (size_t at = 0; (at = answer.find("HTTP/1.1 200 OK", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 52u);
}

TEST_F(Tls, OldVersionsAndOtherProtocolsAreRefused) {
  RunningServer server(routes(), options());
  EXPECT_FALSE(TlsClient(server.address(), TLS1_1_VERSION).connected());
  EXPECT_FALSE(TlsClient(server.address(), TLS1_3_VERSION, std::string("\x02h2", 3)).connected());
  TlsClient client(server.address(), TLS1_3_VERSION, "\x02h2\x08http/1.1");
  EXPECT_TRUE(client.connected());
  EXPECT_EQ(client.protocol(), "http/1.1");
  Client plain(server.address());
  plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.receive().status, 0);
}

TEST_F(Tls, AReloadChangesTheCertificateOfLaterConnections) {
  RunningServer server(routes(), options());
  TlsClient before(server.address());
  EXPECT_EQ(before.server_name(), "first");
  const CertificateFiles others = write_certificate(folder(), "second");
  ASSERT_EQ(std::rename(others.certificate.c_str(), files_.certificate.c_str()), 0);
  EXPECT_FALSE(server.server().reload_certificate());  // its key is still the old one
  EXPECT_EQ(TlsClient(server.address()).server_name(), "first");
  ASSERT_EQ(std::rename(others.key.c_str(), files_.key.c_str()), 0);
  EXPECT_TRUE(server.server().reload_certificate());
  EXPECT_EQ(TlsClient(server.address()).server_name(), "second");
  before.send(post(3));
  EXPECT_TRUE(before.rest().ends_with("\r\n\r\neee"));
}

TEST_F(Tls, FilesThatAreNone) {
  EXPECT_FALSE(TlsContext::load("/no/such/file", files_.key));
  EXPECT_FALSE(TlsContext::load(files_.certificate, "/no/such/file"));
  EXPECT_FALSE(TlsContext::load(files_.key, files_.certificate));
  const CertificateFiles others = write_certificate(folder(), "other");
  EXPECT_FALSE(TlsContext::load(files_.certificate, others.key));
}

TEST_F(Tls, UnixSocketsStayPlain) {
  HttpServerOptions both = options();
  const std::string path = folder() + "socket";
  both.listen = {"127.0.0.1:0", "unix:" + path};
  RunningServer server(routes(), both);
  Client client(server.server().addresses()[1]);
  client.send(post(3));
  EXPECT_EQ(client.receive().body, "eee");
}

}  // namespace
}  // namespace hoist::net
