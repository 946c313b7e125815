#include "base/load.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/threads.h"

namespace hoist {
namespace {

TEST(Load, CpusThatOthersKeepBusyAreNotFree) {
  std::string root = (std::filesystem::temp_directory_path() / "hoist-load-XXXXXX").string();
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  std::filesystem::create_directory(root + "/proc");
  const auto free_with = [&](const std::string& text, int usable, int online) {
    std::ofstream(root + "/proc/loadavg") << text;
    return free_cpus(usable, online, root);
  };
  EXPECT_EQ(free_cpus(8, 8, root + "/none"), 8);
  EXPECT_EQ(free_with("0.00 0 0 1/90 5\n", 8, 8), 8);
  EXPECT_EQ(free_with("5.00 0 0 6/90 5\n", 8, 8), 3);
  EXPECT_EQ(free_with("5.00 0 0 1/90 5\n", 8, 8), 8);   // it has just ended
  EXPECT_EQ(free_with("0.10 0 0 40/90 5\n", 8, 8), 8);  // a moment's peak
  EXPECT_EQ(free_with("99.0 0 0 99/90 5\n", 8, 8), 1);
  EXPECT_EQ(free_with("5.00 0 0 6/90 5\n", 2, 64), 2);  // a quota on a large machine
  EXPECT_EQ(free_with("0.00 0 0 1/90 5\n", 1, 8), 1);
  EXPECT_EQ(free_with("garbage", 4, 8), 4);
  std::filesystem::remove_all(root);
}

TEST(Load, ThisProcessHasOneCpuAtLeast) {
  EXPECT_GE(free_cpus(), 1);
  EXPECT_LE(free_cpus(), usable_cpus());
}

}  // namespace
}  // namespace hoist
