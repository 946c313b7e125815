// Blocks from many threads, written one at a time to their places.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "base/threads.h"
#include "ops/sort/sort_testing.h"
#include "ops/sort/write_queue.h"

namespace hoist::sort {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kCount = 300;

std::string text_of(size_t i) { return std::string(kBlock - i, static_cast<char>('a' + i % 26)); }

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
    std::atomic<bool> good{true};
    ThreadPool(threads).parallel_for(kCount, [&](size_t i) {
      WriteQueue::Block block = queue.take(positions[i]);
      fill(block, text_of(i));
      if (!queue.put(std::move(block))) good = false;
    });
    EXPECT_TRUE(good);
    // As soon as the threads are done.
    EXPECT_EQ(content(path), expected);
    ASSERT_TRUE(output.finish());
  }
}

TEST(WriteQueue, NothingIsWrittenAfterAFailure) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  Output output(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT, 0600)), "f");
  ASSERT_TRUE(output.reserve(kCount * kBlock));
  const UniqueFd unwritable(open(path.c_str(), O_RDONLY));
  ASSERT_EQ(dup2(unwritable.get(), output.fd()), output.fd());
  WriteQueue queue(output, kBlock, 4);
  std::atomic<int> failed{0};
  ThreadPool(3).parallel_for(kCount, [&](size_t i) {
    WriteQueue::Block block = queue.take(i * kBlock);
    fill(block, text_of(0));
    if (!queue.put(std::move(block))) ++failed;
  });
  EXPECT_GT(failed, 0);
  EXPECT_FALSE(queue.put(queue.take(0)));
  EXPECT_FALSE(output.status());
  EXPECT_EQ(content(path), "");
}

}  // namespace
}  // namespace hoist::sort
