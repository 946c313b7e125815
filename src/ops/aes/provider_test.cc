// The provider against the default provider, call by call, with a threshold so low that most calls
// are split.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "ops/aes/algorithms.h"
#include "ops/aes/lockstep_testing.h"
#include "ops/aes/provider_testing.h"

namespace hoist::aes {
namespace {

constexpr size_t kThreshold = 300;

OSSL_LIB_CTX* library() {
  static const TestingContext context(kThreshold);
  return context.get();
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t below(size_t bound) { return engine_() % bound; }
  bool one_in(size_t n) { return below(n) == 0; }
  std::vector<uint8_t> bytes(size_t size) {
    std::vector<uint8_t> result(size);
    for (uint8_t& byte : result) byte = static_cast<uint8_t>(engine_());
    return result;
  }
  // Around everything that the code distinguishes.
  size_t size() {
    switch (below(8)) {
      case 0:
        return below(3);
      case 1:
        return 16 * below(5) + below(3);
      case 2:
        return kThreshold - 2 + below(5);
      case 3:
        return 16 * (kThreshold / 16 + below(8));
      case 4:
        return below(600);
      case 5:
        return 512 * below(5) + below(2);
      default:
        return kThreshold + below(6000);
    }
  }

 private:
  std::mt19937_64 engine_;
};

bool is_aead(const Algorithm& algorithm) {
  return algorithm.mode == Mode::gcm || algorithm.mode == Mode::chacha20_poly1305;
}

size_t key_bytes(const Algorithm& algorithm) {
  return algorithm.key_bits / 8 * (algorithm.mode == Mode::xts ? 2 : 1);
}

unsigned seed_of_run() {
  const char* const given = std::getenv("HOIST_TEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                          : std::random_device()();
}

class ProviderTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  ProviderTest()
      : seed_(seed_of_run()),
        trace_(__FILE__, __LINE__, "HOIST_TEST_SEED=" + std::to_string(seed_)),
        random_(seed_) {}

  const Algorithm& algorithm() const { return GetParam(); }
  std::string name() const { return std::string(algorithm().name); }
  std::vector<uint8_t> key() { return random_.bytes(key_bytes(algorithm())); }
  // Counters close to where they wrap, among others.
  std::vector<uint8_t> iv(size_t size = 16) {
    std::vector<uint8_t> bytes = random_.bytes(size);
    if (random_.one_in(3)) {
      const size_t high = std::min(size, size_t{4} + 4 * random_.below(4));
      std::fill(bytes.end() - static_cast<ptrdiff_t>(high), bytes.end(), 0xff);
      bytes.back() = static_cast<uint8_t>(0xff - random_.below(40));
    }
    return bytes;
  }

  void run_block_calls(Lockstep& pair);
  void run_message(Lockstep& pair);

  unsigned seed_;
  ::testing::ScopedTrace trace_;
  Random random_;
};

void ProviderTest::run_block_calls(Lockstep& pair) {
  pair.start(static_cast<int>(random_.below(2)), key().data(), iv().data());
  if (random_.one_in(2)) pair.set_padding(0);
  for (int i = 0; i < 12 && !pair.failed(); ++i) {
    switch (random_.below(12)) {
      case 0:
        pair.final();
        break;
      case 1:
        pair.start(random_.one_in(2) ? -1 : static_cast<int>(random_.below(2)),
                   random_.one_in(3) ? key().data() : nullptr,
                   random_.one_in(2) ? iv().data() : nullptr);
        break;
      case 2:
        pair.duplicate();
        break;
      case 3:
        pair.set_padding(static_cast<int>(random_.below(2)));
        break;
      case 4:
        pair.cipher(random_.bytes(16 * random_.below(8)));
        break;
      default:
        pair.update(random_.bytes(random_.size()), random_.one_in(2), random_.below(3));
    }
    pair.compare_params();
  }
  pair.final();
}

TEST_P(ProviderTest, RandomCalls) {
  if (is_aead(algorithm())) return;
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    Lockstep pair(library(), name());
    run_block_calls(pair);
  }
}

// What was encrypted comes back, whatever the pieces.
TEST_P(ProviderTest, RoundTrip) {
  if (is_aead(algorithm())) return;
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    const std::vector<uint8_t> own_key = key();
    const std::vector<uint8_t> own_iv = iv();
    const std::vector<uint8_t> text = random_.bytes(16 + random_.size());
    Lockstep there(library(), name());
    there.start(1, own_key.data(), own_iv.data());
    std::vector<uint8_t> ciphertext = there.update(text, true, 0);
    std::vector<uint8_t> rest;
    there.final(&rest);
    ciphertext.insert(ciphertext.end(), rest.begin(), rest.end());
    Lockstep back(library(), name());
    back.start(0, own_key.data(), own_iv.data());
    std::vector<uint8_t> result = back.update(ciphertext, true, 0);
    back.final(&rest);
    result.insert(result.end(), rest.begin(), rest.end());
    EXPECT_EQ(result, text);
  }
}

// One message: encrypted, then decrypted in other pieces, sometimes with a wrong tag.
void ProviderTest::run_message(Lockstep& pair) {
  const bool gcm = algorithm().mode == Mode::gcm;
  const bool odd_iv = gcm && random_.one_in(3);
  const size_t iv_size = odd_iv ? 1 + random_.below(60) : 12;
  const std::vector<uint8_t> own_key = key();
  const std::vector<uint8_t> own_iv = iv(iv_size);
  const std::vector<uint8_t> aad = random_.bytes(random_.below(2) * random_.below(800));
  std::vector<std::vector<uint8_t>> ciphertext;
  std::vector<uint8_t> tag;
  const auto start = [&](int encrypting) {
    pair.start(encrypting, nullptr, nullptr);
    if (gcm) pair.control(EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv_size), nullptr);
    if (random_.one_in(4)) {
      pair.start(-1, nullptr, own_iv.data());
      pair.start(-1, own_key.data(), nullptr);
    } else {
      pair.start(-1, own_key.data(), own_iv.data());
    }
    for (size_t at = 0; at < aad.size();) {
      const size_t piece = std::min(aad.size() - at, 1 + random_.below(500));
      const auto begin = aad.begin() + static_cast<ptrdiff_t>(at);
      pair.additional({begin, begin + static_cast<ptrdiff_t>(piece)});
      at += piece;
    }
  };
  start(1);
  const size_t pieces = random_.below(5);
  for (size_t i = 0; i < pieces; ++i) {
    ciphertext.push_back(
        pair.update(random_.bytes(random_.size()), random_.one_in(2), random_.below(3)));
    if (random_.one_in(6)) pair.duplicate();
    if (random_.one_in(20)) pair.additional(random_.bytes(1 + random_.below(40)));
    if (random_.one_in(6)) pair.compare_params();
  }
  pair.final();
  const size_t tag_size = random_.one_in(3) ? 1 + random_.below(16) : 16;
  pair.get_tag(tag_size, &tag);
  if (random_.one_in(5)) pair.final();
  if (random_.one_in(5)) pair.update(random_.bytes(random_.size()), false, 0);
  start(0);
  const bool wrong = random_.one_in(4);
  if (tag.empty()) tag.resize(tag_size);
  if (wrong) tag[random_.below(tag.size())] ^= static_cast<uint8_t>(1 << random_.below(8));
  const bool tag_first = random_.one_in(2);
  const auto set_tag = [&] {
    if (!random_.one_in(12)) {
      pair.control(EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data());
    }
  };
  if (tag_first) set_tag();
  if (random_.one_in(3)) {
    for (const auto& piece : ciphertext) pair.update(piece, random_.one_in(2), random_.below(3));
  } else {
    std::vector<uint8_t> all;
    for (const auto& piece : ciphertext) all.insert(all.end(), piece.begin(), piece.end());
    const size_t first = all.empty() ? 0 : random_.below(all.size());
    const auto middle = all.begin() + static_cast<ptrdiff_t>(first);
    if (random_.one_in(2)) {
      pair.update(all, random_.one_in(2), 0);
    } else {
      pair.update({all.begin(), middle}, random_.one_in(2), 0);
      if (random_.one_in(4)) pair.duplicate();
      pair.update({middle, all.end()}, random_.one_in(2), 0);
    }
  }
  if (!tag_first) set_tag();
  pair.final();
  pair.get_tag(16);
  pair.compare_params();
}

TEST_P(ProviderTest, RandomMessages) {
  if (!is_aead(algorithm())) return;
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    Lockstep pair(library(), name());
    // The same context again, and again.
    do {
      run_message(pair);
    } while (!random_.one_in(3) && !HasFailure());
  }
}

// Anything in any order, sense or not; only a message whose tag was refused ends there.
TEST_P(ProviderTest, RandomAeadCalls) {
  if (!is_aead(algorithm())) return;
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    Lockstep pair(library(), name());
    std::vector<uint8_t> tag = random_.bytes(16);
    bool refused = false;
    bool ended = false;
    pair.start(static_cast<int>(random_.below(2)), key().data(), iv().data());
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      switch (random_.below(12)) {
        case 0:
          ended = pair.final() == 1;
          refused |= !ended;
          break;
        case 1:
          pair.start(random_.one_in(2) ? -1 : static_cast<int>(random_.below(2)),
                     random_.one_in(3) ? key().data() : nullptr,
                     refused || random_.one_in(2) ? iv().data() : nullptr);
          refused = ended = false;
          break;
        case 2:
          pair.duplicate();
          break;
        case 3:
          pair.additional(random_.bytes(1 + random_.below(600)));
          break;
        case 4:
          pair.control(EVP_CTRL_AEAD_SET_TAG, static_cast<int>(6 + random_.below(11)), tag.data());
          break;
        case 5:
          pair.get_tag(1 + random_.below(16), nullptr, ended);
          break;
        case 6:
          refused |= pair.cipher(random_.bytes(random_.size()), random_.one_in(2)) < 0;
          break;
        default:
          pair.update(random_.bytes(random_.size()), random_.one_in(2), random_.below(3));
      }
      pair.compare_params();
    }
  }
}

// Larger than any break-even, and larger than what ChaCha20-Poly1305 hashes at a time.
TEST_P(ProviderTest, LargeBuffers) {
  const bool aead = is_aead(algorithm());
  for (const size_t size : {(size_t{1} << 20) + 5, (size_t{5} << 20) - 16}) {
    Lockstep pair(library(), name());
    const std::vector<uint8_t> own_key = key();
    const std::vector<uint8_t> own_iv = iv();
    for (const int encrypting : {1, 0}) {
      pair.start(encrypting, own_key.data(), own_iv.data());
      if (aead) pair.additional(random_.bytes(20));
      pair.update(random_.bytes(size), encrypting == 1, 0);
      pair.final();
      if (aead) pair.get_tag(16);
    }
  }
}

TEST_P(ProviderTest, NoKeyOrIv) {
  Lockstep pair(library(), name());
  pair.start(1, nullptr, nullptr);
  pair.update(random_.bytes(1000), false, 0);
  pair.update(random_.bytes(16), false, 0);
  pair.final();
  pair.start(1, key().data(), nullptr);
  if (algorithm().mode != Mode::gcm) pair.update(random_.bytes(1000), false, 0);  // a random IV
}

// Calls that change the IV, or fail, in the middle of a message that was split; after them, nothing
// may be encrypted with key stream that was used.
TEST_P(ProviderTest, DisturbedMessages) {
  if (!is_aead(algorithm())) return;
  const bool gcm = algorithm().mode == Mode::gcm;
  const std::vector<uint8_t> own_key = key();
  const std::vector<uint8_t> text = random_.bytes(2000);
  for (const int encrypting : {1, 0}) {
    for (const bool long_enough : {true, false}) {
      Lockstep pair(library(), name());
      pair.start(encrypting, own_key.data(), iv(12).data());
      pair.additional(random_.bytes(20));
      pair.update(long_enough ? text : random_.bytes(200), false, 0);
      if (gcm) pair.control(EVP_CTRL_AEAD_SET_IVLEN, 0, nullptr);   // refused
      if (gcm) pair.control(EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr);  // no change
      pair.start_with_iv_size(0);                                   // refused
      pair.update(text, false, 0);
      if (gcm) pair.control(EVP_CTRL_AEAD_SET_IVLEN, 16, nullptr);
      pair.update(text, false, 0);
      pair.update(random_.bytes(40), false, 0);
      pair.final();
      if (gcm) pair.control(EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr);
      pair.start(encrypting, nullptr, iv(12).data());
      pair.update(text, false, 0);
      pair.final();
      if (encrypting == 1) pair.get_tag(16);
    }
  }
}

// An update without input ends a message.
TEST_P(ProviderTest, UpdatesWithoutInput) {
  if (!is_aead(algorithm())) return;
  for (const size_t size : {size_t{1000}, size_t{100}}) {
    Lockstep pair(library(), name());
    pair.start(1, key().data(), iv(12).data());
    pair.additional(random_.bytes(20));
    pair.update(random_.bytes(size), false, 0);
    pair.update_without_input(16);
    pair.get_tag(16);
    pair.update(random_.bytes(1000), false, 0);
    pair.final();
    pair.get_tag(16);
  }
}

// Decryption whose output lies a little before its input: read before it is overwritten.
TEST_P(ProviderTest, DecryptsToLowerAddresses) {
  const bool aead = is_aead(algorithm());
  Lockstep pair(library(), name());
  const std::vector<uint8_t> own_key = key();
  const std::vector<uint8_t> own_iv = iv();
  pair.start(1, own_key.data(), own_iv.data());
  const std::vector<uint8_t> first = pair.update(random_.bytes(1600), false, 0);
  const std::vector<uint8_t> second = pair.update(random_.bytes(80000), false, 0);
  pair.final();
  std::vector<uint8_t> tag(16);
  if (aead) pair.get_tag(16, &tag);
  pair.start(0, own_key.data(), own_iv.data());
  if (aead) pair.control(EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
  pair.update(first, true, 0);
  pair.update(second, true, 0, /*lower=*/64);
  pair.final();
}

// After GCM refused a tag, no tag comes out until there is a new IV.
TEST(GcmProvider, NoTagAfterARefusedOne) {
  if (usable_cpus() == 1) GTEST_SKIP() << "one CPU: the default provider's, which gives one";
  const CipherHandle cipher(EVP_CIPHER_fetch(library(), "AES-256-GCM", "provider=hoist"));
  const CipherState state(EVP_CIPHER_CTX_new());
  const std::vector<uint8_t> zeros(1000);
  std::vector<uint8_t> out(1100);
  std::vector<uint8_t> tag(16);
  int length = 0;
  const auto update = [&] {
    return EVP_CipherUpdate(state.get(), out.data(), &length, zeros.data(), 1000);
  };
  ASSERT_EQ(EVP_CipherInit_ex2(state.get(), cipher.get(), zeros.data(), zeros.data(), 0, nullptr),
            1);
  EXPECT_EQ(EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data()), 1);
  EXPECT_EQ(update(), 1);
  EXPECT_EQ(EVP_CipherFinal_ex(state.get(), out.data(), &length), 0);
  EXPECT_EQ(EVP_CipherInit_ex2(state.get(), nullptr, nullptr, nullptr, 1, nullptr), 1);
  EXPECT_EQ(update(), 1);
  EXPECT_EQ(EVP_CipherFinal_ex(state.get(), out.data(), &length), 0);
  EXPECT_EQ(EVP_CipherInit_ex2(state.get(), nullptr, nullptr, zeros.data(), 1, nullptr), 1);
  EXPECT_EQ(update(), 1);
  EXPECT_EQ(EVP_CipherFinal_ex(state.get(), out.data(), &length), 1);
}

// Many threads at once: calls of all but one stay whole, and all are right.
TEST_P(ProviderTest, Threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      Random random(seed_ + static_cast<unsigned>(i));
      for (int round = 0; round < 5; ++round) {
        Lockstep pair(library(), name());
        pair.start(round % 2, random.bytes(key_bytes(algorithm())).data(), random.bytes(16).data());
        for (int piece = 0; piece < 3; ++piece) {
          pair.update(random.bytes(random.size()), false, 0);
        }
        pair.final();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(All, ProviderTest, ::testing::ValuesIn(kAlgorithms),
                         [](const ::testing::TestParamInfo<Algorithm>& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace hoist::aes
