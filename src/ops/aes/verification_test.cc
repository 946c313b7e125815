// What --verify does when a split call differs from the default provider's answer. Memory that is
// mapped twice brings that about: the default provider, which verifies, writes elsewhere; the split
// call writes over what it has not read yet, at an address that it cannot recognise.
//
// A difference switches the operation off for the whole process, so each case has its own.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ops/aes/algorithms.h"
#include "ops/aes/provider_testing.h"
#include "ops/aes/split.h"
#include "takeover/switched_off.h"

namespace hoist::aes {
namespace {

constexpr size_t kSize = 100000;
constexpr size_t kThreshold = 1000;
using Data = std::vector<uint8_t>;

// The same bytes at two addresses.
class Mirror {
 public:
  Mirror() {
    const int fd = ::memfd_create("mirror", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, kBytes) != 0) std::abort();
    for (uint8_t*& side : sides_) {
      void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (mapped == MAP_FAILED) std::abort();
      side = static_cast<uint8_t*>(mapped);
    }
    ::close(fd);
  }
  ~Mirror() {
    for (uint8_t* const side : sides_) ::munmap(side, kBytes);
  }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  uint8_t* side(size_t i) const { return sides_[i]; }

 private:
  static constexpr size_t kBytes = 2 * kSize;
  uint8_t* sides_[2] = {};
};

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(1);
}

struct Session {
  Session(OSSL_LIB_CTX* library, const Algorithm& algorithm, const char* properties,
          bool encrypting)
      : cipher(EVP_CIPHER_fetch(library, std::string(algorithm.name).c_str(), properties)),
        state(EVP_CIPHER_CTX_new()) {
    uint8_t key[64];
    for (size_t i = 0; i < sizeof key; ++i) key[i] = static_cast<uint8_t>(i);
    const uint8_t iv[16] = {1, 2, 3};
    require(EVP_CipherInit_ex2(state.get(), cipher.get(), key, iv, encrypting, nullptr) == 1,
            "init");
  }
  size_t update(uint8_t* out, const uint8_t* in, size_t size) {
    int length = 0;
    require(EVP_CipherUpdate(state.get(), out, &length, in, static_cast<int>(size)) == 1, "update");
    return static_cast<size_t>(length);
  }
  Data update(const Data& in) {
    Data out(in.size() + 32);
    out.resize(update(out.data(), in.data(), in.size()));
    return out;
  }
  int final() {
    uint8_t out[32];
    int length = 0;
    return EVP_CipherFinal_ex(state.get(), out, &length);
  }
  Data tag() {
    Data tag(16);
    require(EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data()) == 1, "tag");
    return tag;
  }

  CipherHandle cipher;
  CipherState state;
};

Data some_data() {
  Data data(kSize);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 37 + i / 256);
  return data;
}

bool is_aead(const Algorithm& algorithm) {
  return algorithm.mode == Mode::gcm || algorithm.mode == Mode::chacha20_poly1305;
}

// The text differs: the program gets the default provider's, then and later.
[[noreturn]] void differ_in_text(const Algorithm& algorithm) {
  const TestingContext context(kThreshold);
  const bool encrypting = algorithm.mode != Mode::cbc;
  Session theirs(context.get(), algorithm, "provider=default", encrypting);
  Session ours(context.get(), algorithm, "provider=hoist", encrypting);
  const Data data = some_data();
  const Data expected = theirs.update(data);
  const Mirror mirror;
  std::memcpy(mirror.side(0), data.data(), kSize);
  uint8_t* const out = mirror.side(1) + 64;
  const size_t length = ours.update(out, mirror.side(0), kSize);
  require(length == expected.size(), "length");
  require(std::memcmp(out, expected.data(), length) == 0, "text");
  require(switched_off("aes").has_value(), "noted");
  for (const size_t size : {size_t{50000}, size_t{48}, size_t{2000}}) {
    const Data more(data.begin(), data.begin() + static_cast<ptrdiff_t>(size));
    require(ours.update(more) == theirs.update(more), "what follows");
  }
  require(ours.final() == theirs.final(), "end");
  if (is_aead(algorithm)) require(ours.tag() == theirs.tag(), "tag");
  std::_Exit(0);
}

// The text is right and the tag is not: hashed is what lies over the ciphertext by then.
[[noreturn]] void differ_in_tag(const Algorithm& algorithm) {
  const TestingContext context(kThreshold);
  const Data data = some_data();
  Session there(context.get(), algorithm, "provider=default", true);
  const Data ciphertext = there.update(data);
  require(there.final() == 1, "end of encryption");
  Data tag = there.tag();
  const Mirror mirror;
  std::memcpy(mirror.side(0), ciphertext.data(), kSize);
  Session back(context.get(), algorithm, "provider=hoist", false);
  require(EVP_CIPHER_CTX_ctrl(back.state.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data()) == 1,
          "set tag");
  back.update(mirror.side(1), mirror.side(0), kSize);
  require(!switched_off("aes").has_value(), "no difference yet");
  require(std::memcmp(mirror.side(1), data.data(), kSize) == 0, "text");
  require(back.final() == 1, "the right tag is taken");
  require(switched_off("aes").has_value(), "noted");
  std::_Exit(0);
}

class VerificationTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  void SetUp() override {
    if (usable_lanes() < 2) GTEST_SKIP() << "one CPU";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (std::getenv("HOIST_IN_CASE") != nullptr) return;  // a case's own process comes here, too
    char folder[] = "/tmp/hoist-verification-test-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    ::setenv("XDG_CACHE_HOME", folder, 1);
    ::setenv("HOIST_VERIFY", "1", 1);
    ::setenv("HOIST_IN_CASE", "1", 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    ::unsetenv("HOIST_IN_CASE");
    std::filesystem::remove_all(folder_);
  }

  std::string folder_;
};

TEST_P(VerificationTest, TextDiffers) {
  EXPECT_EXIT(differ_in_text(GetParam()), ::testing::ExitedWithCode(0), "");
}

TEST_P(VerificationTest, TagDiffers) {
  if (GetParam().mode != Mode::gcm) return;
  EXPECT_EXIT(differ_in_tag(GetParam()), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(All, VerificationTest, ::testing::ValuesIn(kAlgorithms),
                         [](const ::testing::TestParamInfo<Algorithm>& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace hoist::aes
