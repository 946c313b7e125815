// What the tests and the benchmark of the provider share: a library context with the default
// provider and ours, linked in.
#pragma once

#include <openssl/evp.h>
#include <openssl/provider.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ops/aes/provider.h"

namespace hoist::aes {

// Ciphers are fetched from it with the property "provider=hoist" or "provider=default".
class TestingContext {
 public:
  // Updates of `threshold` bytes are split already; 0: those above the measured break-even.
  explicit TestingContext(size_t threshold) : context_(OSSL_LIB_CTX_new()) {
    OSSL_PROVIDER_add_builtin(context_, "hoist", initialise_provider);
    char path[] = "/tmp/hoist-provider-test-XXXXXX";
    const int fd = ::mkstemp(path);
    const std::string text =
        "openssl_conf = init\n[init]\nproviders = list\n[list]\nhoist = hoist_section\n"
        "default = default_section\n[default_section]\nactivate = 1\n[hoist_section]\nactivate = "
        "1\nthreshold = " +
        std::to_string(threshold) + "\n";
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    if (!written || OSSL_LIB_CTX_load_config(context_, path) != 1) std::abort();
    ::unlink(path);
  }
  ~TestingContext() { OSSL_LIB_CTX_free(context_); }
  TestingContext(const TestingContext&) = delete;
  TestingContext& operator=(const TestingContext&) = delete;

  OSSL_LIB_CTX* get() const { return context_; }

 private:
  OSSL_LIB_CTX* context_;
};

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using CipherHandle = std::unique_ptr<EVP_CIPHER, Freer<EVP_CIPHER_free>>;
using CipherState = std::unique_ptr<EVP_CIPHER_CTX, Freer<EVP_CIPHER_CTX_free>>;

}  // namespace hoist::aes
