// What messages may be like at their limits, against the default provider: lengths of tags, IVs and
// additional data, every length of text around what the code distinguishes, counters that wrap.
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ops/aes/algorithms.h"
#include "ops/aes/ghash.h"
#include "ops/aes/lockstep_testing.h"
#include "ops/aes/provider_testing.h"
#include "ops/aes/split.h"

namespace hoist::aes {
namespace {

using Data = std::vector<uint8_t>;
constexpr size_t kThreshold = 600;  // above the group that vector AES takes

OSSL_LIB_CTX* library() {
  static const TestingContext context(kThreshold);
  return context.get();
}

Data numbered(size_t size) {
  Data data(size);
  for (size_t i = 0; i < size; ++i) data[i] = static_cast<uint8_t>(i * 73 + i / 256);
  return data;
}

constexpr size_t kLongestIv = 129;

// ThreadSanitizer allows children that are forked no threads.
#ifdef __SANITIZE_THREAD__
constexpr bool kChildrenHaveThreads = false;
#else
constexpr bool kChildrenHaveThreads = true;
#endif

struct Message {
  Data iv = numbered(kLongestIv);
  size_t iv_size = 12;
  size_t tag_size = 16;
  std::vector<Data> additional = {};
  Data text = {};
};

// Encrypts, and decrypts what came out: with the right tag, then with a wrong one.
void run(const std::string& name, const Message& message) {
  Lockstep pair(library(), name);
  const Data key = numbered(32);
  const auto start = [&](int encrypting) {
    pair.start(encrypting, nullptr, nullptr);
    pair.control(EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(message.iv_size), nullptr);
    pair.start(-1, key.data(), message.iv.data());
    for (const Data& piece : message.additional) pair.additional(piece);
  };
  start(1);
  const Data ciphertext = pair.update(message.text, false, 0);
  pair.final();
  Data tag;
  pair.get_tag(message.tag_size, &tag);
  for (const bool right : {true, false}) {
    start(0);
    if (!tag.empty() && !right) tag.back() ^= 1;
    pair.control(EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data());
    pair.update(ciphertext, true, 0);
    pair.final();
  }
}

const char* const kAeads[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "ChaCha20-Poly1305"};

// 0 and 17 are refused.
TEST(EdgeCases, TagSizes) {
  for (const char* name : kAeads) {
    for (size_t size = 0; size <= 17; ++size) {
      for (const size_t text : {size_t{0}, size_t{100}, size_t{2000}}) {
        run(name, {.tag_size = size, .text = numbered(text)});
      }
    }
  }
}

// 129 is refused; ChaCha20-Poly1305 takes up to 12.
TEST(EdgeCases, IvSizes) {
  for (const char* name : kAeads) {
    for (size_t size = 1; size <= kLongestIv; ++size) {
      run(name, {.iv_size = size, .text = numbered(size % 3 == 0 ? 0 : 1500 + size)});
    }
  }
}

TEST(EdgeCases, AdditionalData) {
  const Data huge = numbered(100'003);
  std::vector<Data> pieces;
  for (size_t at = 0; at < huge.size();) {
    const size_t size = std::min(huge.size() - at, 1 + at % 997);
    pieces.emplace_back(huge.begin() + static_cast<ptrdiff_t>(at),
                        huge.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
  }
  for (const char* name : kAeads) {
    for (const size_t text : {size_t{0}, size_t{3000}}) {
      run(name, {.additional = {huge}, .text = numbered(text)});
      run(name, {.additional = pieces, .text = numbered(text)});
      // Around what is remembered of it.
      for (size_t size = 0; size <= 40; ++size) {
        run(name, {.additional = {numbered(size)}, .text = numbered(text)});
        run(name, {.additional = {numbered(size), numbered(500 - size)}, .text = numbered(text)});
        run(name, {.additional = {numbered(490 + size)}, .text = numbered(text)});
      }
    }
  }
}

TEST(EdgeCases, TextSizesOfAeads) {
  for (const char* name : kAeads) {
    for (size_t size = 0; size <= 1300; ++size) run(name, {.text = numbered(size)});
  }
}

TEST(EdgeCases, TextSizesOfBlockCiphers) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.mode == Mode::gcm || algorithm.mode == Mode::chacha20_poly1305) continue;
    for (size_t size = 0; size <= 1300; size += size >= 560 && size <= 700 ? 1 : 13) {
      Lockstep pair(library(), std::string(algorithm.name));
      const Data key = numbered(64);
      const Data iv = numbered(16);
      pair.start(1, key.data(), iv.data());
      Data ciphertext = pair.update(numbered(size), false, 0);
      Data rest;
      pair.final(&rest);
      ciphertext.insert(ciphertext.end(), rest.begin(), rest.end());
      pair.start(0, key.data(), iv.data());
      pair.update(ciphertext, true, 0);
      pair.final();
    }
  }
}

// CTR's counter at each of its 32-bit words' ends.
TEST(EdgeCases, CtrWraps) {
  for (const char* name : {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"}) {
    for (const size_t ones : {size_t{4}, size_t{8}, size_t{12}, size_t{16}}) {
      Data iv = numbered(16);
      std::fill(iv.end() - static_cast<ptrdiff_t>(ones), iv.end(), 0xff);
      iv.back() = 0xf0;
      Lockstep pair(library(), name);
      pair.start(1, numbered(32).data(), iv.data());
      for (int piece = 0; piece < 3; ++piece) {
        pair.update(numbered(2007), false, 0);
        pair.compare_params();
      }
    }
  }
}

// GCM starts at a counter that GHASH makes of an IV of 16 bytes. One is sought whose counter wraps
// inside the text.
TEST(EdgeCases, GcmWraps) {
  if (!has_clmul()) GTEST_SKIP() << "the search would take long";
  const Data key = numbered(32);
  const uint8_t zero[kBlock] = {};
  uint8_t h[kBlock];
  Cipher ecb(default_functions(Mode::ecb, 256));
  ASSERT_TRUE(ecb.start(true, Bytes(key), {}) && ecb.set_padding(false) &&
              ecb.update(h, zero, kBlock));
  const GhashKey hash_key(load_block(h));
  constexpr uint32_t kBlocks = 4096;
  uint8_t blocks[2 * kBlock] = {};
  blocks[2 * kBlock - 1] = 128;  // the IV's length in bits
  int found = 0;
  for (uint64_t number = 0; found < 3; ++number) {
    std::memcpy(blocks, &number, sizeof number);
    Gf128 j0;
    ghash(hash_key, j0, blocks, 2);
    if (static_cast<uint32_t>(j0.low) < 0u - kBlocks) continue;
    ++found;
    run("AES-256-GCM", {.iv = Data(blocks, blocks + kBlock),
                        .iv_size = kBlock,
                        .text = numbered(kBlocks * kBlock)});
  }
}

sigjmp_buf fault_handled;
void leave_call(int) { siglongjmp(fault_handled, 1); }

// Whether the handler was called. A function of its own: siglongjmp() spoils local variables.
__attribute__((noinline)) bool leaves_call(EVP_CIPHER_CTX* state, uint8_t* memory, int size) {
  if (sigsetjmp(fault_handled, 1) != 0) return true;
  int written = 0;
  EVP_EncryptUpdate(state, memory, &written, memory, size);
  return false;
}

// A program's handler may leave a large call for good. The next one must not find that one still
// under way, nor its thread immune to cancellation.
TEST(EdgeCases, FaultThatIsLeftByJump) {
  constexpr size_t kSize = size_t{1} << 20;
  void* const mapped =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  uint8_t* const memory = static_cast<uint8_t*>(mapped);
  ASSERT_EQ(::mprotect(memory + kSize / 2, 4096, PROT_NONE), 0);
  const Data key = numbered(64);
  struct sigaction action = {};
  action.sa_handler = leave_call;
  struct sigaction before;
  ASSERT_EQ(::sigaction(SIGSEGV, &action, &before), 0);
  for (const char* name : {"AES-256-CTR", "AES-256-GCM", "AES-256-XTS"}) {
    const CipherHandle cipher(EVP_CIPHER_fetch(library(), name, "provider=hoist"));
    const CipherState state(EVP_CIPHER_CTX_new());
    ASSERT_EQ(EVP_EncryptInit_ex2(state.get(), cipher.get(), key.data(), key.data(), nullptr), 1);
    EXPECT_TRUE(leaves_call(state.get(), memory, kSize)) << name;
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    ASSERT_EQ(::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state), 0);
    EXPECT_EQ(cancel_state, PTHREAD_CANCEL_ENABLE) << name;
    if (usable_lanes() > 1) {
      EXPECT_EQ(LargeCall(true).obstacle(), nullptr) << name;
    }
  }
  ::sigaction(SIGSEGV, &before, nullptr);
  ::munmap(mapped, kSize);
}

// What a thread finds that begins a large call now.
const char* obstacle_on_another_thread() {
  const char* obstacle = nullptr;
  std::thread([&] { obstacle = LargeCall(true).obstacle(); }).join();
  return obstacle;
}

__attribute__((noinline)) void leave_large_call(bool and_fork) {
  if (sigsetjmp(fault_handled, 1) != 0) return;
  const LargeCall call(true);
  EXPECT_STREQ(obstacle_on_another_thread(), "other threads are at it");
  if (and_fork) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      ::_exit(obstacle_on_another_thread() != nullptr ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ::raise(SIGUSR1);
  ADD_FAILURE();
}

// Any signal's handler may do so, as long as the call is not split yet.
TEST(EdgeCases, SignalThatLeavesByJump) {
  if (usable_lanes() == 1) GTEST_SKIP() << "one CPU";
  struct sigaction action = {};
  action.sa_handler = leave_call;
  struct sigaction before;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  for (int round = 0; round < 3; ++round) {
    leave_large_call(kChildrenHaveThreads && round == 0);
    leave_large_call(false);
    EXPECT_EQ(LargeCall(true).obstacle(), nullptr);
    EXPECT_EQ(obstacle_on_another_thread(), nullptr);
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    ASSERT_EQ(::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state), 0);
    EXPECT_EQ(cancel_state, PTHREAD_CANCEL_ENABLE);
  }
  ::sigaction(SIGUSR1, &before, nullptr);
}

// A call that was left with other threads at work on it is never over: nobody waits for it, though.
TEST(EdgeCases, FaultInLanesThatLeavesByJump) {
  if (usable_lanes() == 1 || !kChildrenHaveThreads) GTEST_SKIP() << "no threads";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    struct sigaction action = {};
    action.sa_handler = leave_call;
    ::sigaction(SIGSEGV, &action, nullptr);
    if (sigsetjmp(fault_handled, 1) == 0) {
      const LargeCall call(true);
      for_each_lane(2, [](size_t lane) {
        if (lane == 0) ::raise(SIGSEGV);
      });
    }
    std::atomic<int> calls = 0;
    for_each_lane(2, [&](size_t) { ++calls; });
    const bool alone = LargeCall(true).obstacle() == nullptr;
    ::_exit(calls == 1 && !alone && obstacle_on_another_thread() != nullptr ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hoist::aes
