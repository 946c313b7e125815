#include "device/remote/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hoist::device::remote {
namespace {

constexpr uint64_t kPool = 1 << 20;
const uint64_t kSize = hoist_ring_pool_offset(1) + kPool;

UniqueFd memory_file(uint64_t size, int seals, unsigned flags = MFD_ALLOW_SEALING) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | flags));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(SharedMemory, BothSidesSeeTheSameBytes) {
  Result<SharedMemory> ours = SharedMemory::create(1, kPool);
  ASSERT_TRUE(ours.has_value());
  Result<SharedMemory> theirs = SharedMemory::adopt(ours->fd(), 1, kPool);
  ASSERT_TRUE(theirs.has_value());
  ASSERT_EQ(ours->pool().size(), kPool);
  ours->pool().back() = std::byte{42};
  EXPECT_EQ(theirs->pool().back(), std::byte{42});
  ours->queue(0)->tail = 3;
  EXPECT_EQ(theirs->queue(0)->tail, 3u);
}

TEST(SharedMemory, CannotBeCutOrUnsealed) {
  Result<SharedMemory> memory = SharedMemory::create(1, kPool);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(::ftruncate(memory->fd(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(memory->fd(), static_cast<off_t>(2 * kSize)), -1);
  EXPECT_EQ(::fcntl(memory->fd(), F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST(SharedMemory, RefusesShapesThatAreNone) {
  EXPECT_FALSE(SharedMemory::create(0, kPool));
  EXPECT_FALSE(SharedMemory::create(HOIST_RING_MAX_QUEUES + 1, kPool));
  EXPECT_FALSE(SharedMemory::create(1, kPool + 1));
  EXPECT_FALSE(SharedMemory::create(1, UINT64_MAX - 4095));
  EXPECT_TRUE(SharedMemory::create(HOIST_RING_MAX_QUEUES, 0));
}

TEST(SharedMemory, RefusesWhatIsNotSealed) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL,
                          kSeals | F_SEAL_WRITE, kSeals | F_SEAL_FUTURE_WRITE}) {
    const auto adopted = SharedMemory::adopt(memory_file(kSize, seals).get(), 1, kPool);
    ASSERT_FALSE(adopted) << seals;
    EXPECT_EQ(adopted.error().code, ErrorCode::invalid_argument);
  }
}

TEST(SharedMemory, RefusesAnotherSize) {
  EXPECT_TRUE(SharedMemory::adopt(memory_file(kSize, kSeals).get(), 1, kPool));
  EXPECT_FALSE(SharedMemory::adopt(memory_file(kSize - 4096, kSeals).get(), 1, kPool));
  EXPECT_FALSE(SharedMemory::adopt(memory_file(kSize + 1, kSeals).get(), 1, kPool));
  EXPECT_FALSE(SharedMemory::adopt(memory_file(kSize, kSeals).get(), 2, kPool));
  EXPECT_FALSE(SharedMemory::adopt(memory_file(0, kSeals).get(), 1, kPool));
}

TEST(SharedMemory, RefusesWhatIsNoMemory) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(SharedMemory::adopt(ends[0], 1, kPool));
  EXPECT_FALSE(SharedMemory::adopt(ends[1], 1, kPool));
  for (const int end : ends) ::close(end);
  EXPECT_FALSE(SharedMemory::adopt(-1, 1, kPool));
  EXPECT_FALSE(SharedMemory::adopt(UniqueFd(::open("/proc/self/exe", O_RDONLY)).get(), 1, kPool));
}

#if !defined(__SANITIZE_THREAD__)  // whose runtime maps memory of its own in a child, also there
TEST(SharedMemory, AChildHasNoneOfIt) {
  Result<SharedMemory> memory = SharedMemory::create(1, kPool);
  ASSERT_TRUE(memory.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    // msync() says ENOMEM where nothing is mapped. What lies there later must survive the child's
    // end of the object.
    const bool absent = ::msync(memory->pool().data(), 4096, MS_ASYNC) != 0 && errno == ENOMEM;
    void* const other = ::mmap(memory->pool().data(), 4096, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    { const SharedMemory gone = std::move(*memory); }
    const bool kept = other != MAP_FAILED && ::msync(other, 4096, MS_ASYNC) == 0;
    ::_exit(absent && kept ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  memory->pool().front() = std::byte{1};  // the parent still has it
}
#endif

}  // namespace
}  // namespace hoist::device::remote
