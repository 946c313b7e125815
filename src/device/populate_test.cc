#include "device/populate.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace hoist::device {
namespace {

constexpr size_t kPage = 4096;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE

// Those of the range that are in memory.
size_t resident_pages(std::byte* data, size_t size) {
  std::vector<unsigned char> pages(size / kPage);
  EXPECT_EQ(::mincore(data, size, pages.data()), 0);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](auto page) { return page & 1; }));
}

TEST(Populate, GivesEveryPageAndNothingBeside) {
  for (const size_t size : {kPage, size_t{5} << 20, (size_t{100} << 20) + kPage}) {
    const size_t mapped = size + 2 * kPage;
    auto* const data = static_cast<std::byte*>(
        ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(data, MAP_FAILED);
    if (::madvise(data, 0, kPopulateWrite) != 0) GTEST_SKIP() << "before Linux 5.14";
    ASSERT_EQ(resident_pages(data, mapped), 0u);
    populate({data + kPage, size});
    EXPECT_EQ(resident_pages(data + kPage, size), size / kPage) << size;
    EXPECT_EQ(resident_pages(data, kPage) + resident_pages(data + kPage + size, kPage), 0u) << size;
    ::munmap(data, mapped);
  }
}

TEST(Populate, IsNoErrorWhereItCannot) {
  void* const data = ::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  populate({static_cast<std::byte*>(data), kPage});
  ::munmap(data, kPage);
  populate({});
}

}  // namespace
}  // namespace hoist::device
