// Parts of the provider that no call reaches in reasonable time, or that calls hide.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "ops/aes/algorithms.h"
#include "ops/aes/chacha_message.h"
#include "ops/aes/counter.h"
#include "ops/aes/gcm_message.h"
#include "ops/aes/locked_memory.h"
#include "ops/aes/split.h"

namespace hoist::aes {
namespace {

TEST(Counter, CarriesAndWraps) {
  uint8_t counter[16];
  std::memset(counter, 0xff, sizeof counter);
  add_to_counter(counter, 3);
  const uint8_t wrapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  EXPECT_EQ(std::memcmp(counter, wrapped, 16), 0);
  std::memset(counter + 8, 0xff, 8);
  add_to_counter(counter, 1);
  EXPECT_EQ(counter[7], 1);
  EXPECT_EQ(counter[15], 0);
  std::memset(counter, 0xff, sizeof counter);
  add_to_gcm_counter(counter, 3);
  EXPECT_EQ(counter[11], 0xff);
  EXPECT_EQ(low_gcm_counter(counter), 2u);
}

// A place far inside a ChaCha20 stream, past 2^32 blocks, is where the default provider's ChaCha20
// gets to by itself.
TEST(Chacha, PositionPastTheCounter) {
  const CipherFunctions chacha = find_default_cipher("ChaCha20");
  ASSERT_TRUE(chacha.complete());
  const uint8_t key[32] = {5};
  const uint8_t nonce[12] = {0xff, 0xff, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  const uint64_t start = ((uint64_t{1} << 32) - 3) * 64;
  uint8_t iv[16];
  chacha_position(nonce, start, iv);
  const std::vector<uint8_t> zeros(64 * 6);
  std::vector<uint8_t> stream(zeros.size());
  Cipher whole(chacha);
  ASSERT_TRUE(whole.start(true, Bytes(key), Bytes(iv)));
  ASSERT_TRUE(whole.update(stream.data(), zeros.data(), zeros.size()));
  for (uint64_t block = 0; block < 6; ++block) {
    chacha_position(nonce, start + 64 * block, iv);
    Cipher part(chacha);
    uint8_t out[64];
    ASSERT_TRUE(part.start(true, Bytes(key), Bytes(iv)));
    ASSERT_TRUE(part.update(out, zeros.data(), 64));
    EXPECT_EQ(std::memcmp(out, stream.data() + 64 * block, 64), 0) << block;
  }
}

TEST(LockedKey, KeepsCopiesAndForgets) {
  const uint8_t bytes[32] = {1, 2, 3};
  LockedKey key;
  EXPECT_TRUE(key.empty());
  ASSERT_TRUE(key.set(bytes));
  const LockedKey copy(key);
  key.set({});
  EXPECT_TRUE(key.empty());
  ASSERT_EQ(copy.bytes().size(), sizeof bytes);
  EXPECT_EQ(std::memcmp(copy.bytes().data(), bytes, sizeof bytes), 0);
  const uint8_t long_key[65] = {};
  EXPECT_FALSE(key.set(long_key));
}

// A cell that was given back holds nothing of what it held.
TEST(LockedMemory, IsCleansed) {
  auto* const cell = static_cast<uint8_t*>(take_locked_cell(64));
  ASSERT_NE(cell, nullptr);
  std::memset(cell, 0xa5, 64);
  return_locked_cell(cell, 64);
  auto* const again = static_cast<uint8_t*>(take_locked_cell(64));
  ASSERT_EQ(again, cell);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(again[i], 0) << i;
  return_locked_cell(again, 64);
}

// A child forked while another thread is inside the pool can use it.
TEST(LockedMemory, SurvivesFork) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) return_locked_cell(take_locked_cell(64), 64);
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);  // it would wait for ever
      return_locked_cell(take_locked_cell(64), 64);
      return_locked_cell(take_locked_cell(1000), 1000);
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  done = true;
  other.join();
}

TEST(Split, CoversEverythingOnce) {
  for (const size_t bytes : {size_t{16}, size_t{4096}, size_t{1000000}, size_t{1} << 31}) {
    const Split split = plan_split(bytes, 16, 300);
    EXPECT_GE(split.lanes, 1u);
    EXPECT_LE(split.chunks, kMaxChunks);
    EXPECT_EQ(split.chunk % 16, 0u);
    size_t sum = 0;
    for (size_t i = 0; i < split.chunks; ++i) sum += split.size_of(i);
    EXPECT_EQ(sum, bytes);
  }
}

TEST(Gcm, RefusesWhatIsLongerThanTheModeAllows) {
  GcmMessage message(128);
  const uint8_t key[16] = {1};
  const uint8_t iv[12] = {2};
  ASSERT_TRUE(message.begin({Bytes(key), Bytes(iv), {}, {}}, false));
  uint8_t byte = 0;
  EXPECT_FALSE(message.update(true, &byte, &byte, (size_t{1} << 36) - 31, kOneLane));
  EXPECT_TRUE(message.update(true, &byte, &byte, 1, kOneLane));
}

}  // namespace
}  // namespace hoist::aes
