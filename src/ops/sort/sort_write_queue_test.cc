// Blocks from many threads, written one at a time to their places.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "ops/sort/sort_testing.h"
#include "ops/sort/write_queue.h"

namespace hoist::sort {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kCount = 300;

std::string text_of(size_t i) { return std::string(kBlock - i, static_cast<char>('a' + i % 26)); }

// Runs `body` in a process whose files may have `most` bytes. Returns its exit status.
template <typename Body>
int in_child_with_file_limit(size_t most, const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {most, most};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void fill(WriteQueue::Block& block, const std::string& text) {
  std::copy(text.begin(), text.end(), block.data.get());
  block.size = text.size();
}

TEST(WriteQueue, EveryBlockGetsToItsPlace) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  std::string expected;
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < kCount; ++i) {
    positions.push_back(expected.size());
    expected += text_of(i);
  }
  for (const int threads : {1, 3, 16}) {
    Output output(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)), "f");
    ASSERT_TRUE(output.reserve(expected.size()));
    WriteQueue queue(output, kBlock, static_cast<size_t>(threads) + 1);
    ThreadPool(threads).parallel_for(kCount, [&](size_t i) {
      WriteQueue::Block block = queue.take(positions[i]);
      fill(block, text_of(i));
      queue.put(std::move(block));
    });
    EXPECT_EQ(output.failed_at(), UINT64_MAX);
    // As soon as the threads are done.
    EXPECT_EQ(content(path), expected);
    ASSERT_TRUE(output.finish());
  }
}

// A quota, an error of the disk: from a place on nothing can be written. What is left is all that
// lies before it, without holes, however the threads were interleaved.
TEST(WriteQueue, AllBeforeAFailureIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  constexpr size_t kFull = 200 * kBlock + 100;
  const int status = in_child_with_file_limit(kFull, [&] {
    Output output(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT, 0600)), "f");
    WriteQueue queue(output, kBlock, 9);
    ThreadPool(8).parallel_for(kCount, [&](size_t i) {
      WriteQueue::Block block = queue.take(i * kBlock);
      fill(block, std::string(kBlock, static_cast<char>('a' + i % 26)));
      if (i % 7 == 0) std::this_thread::yield();
      queue.put(std::move(block));
    });
    return output.failed_at() == kFull ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  const std::string left = content(path);
  ASSERT_EQ(left.size(), kFull);
  for (size_t i = 0; i < kFull; ++i) ASSERT_EQ(left[i], 'a' + i / kBlock % 26) << i;
}

TEST(WriteQueue, NobodyWaitsForABlockThatCannotBeMade) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' allocators end the program instead of throwing";
#endif
  const TemporaryFolder folder;
  Output output(UniqueFd(open((folder.path() + "/f").c_str(), O_WRONLY | O_CREAT, 0600)), "f");
  WriteQueue queue(output, PTRDIFF_MAX / 2, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_THROW(queue.take(0), std::bad_alloc); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::sort
