#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hoist {
namespace {

class Cgroup : public ::testing::Test {
 protected:
  Cgroup() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-cgroup-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Cgroup() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(Cgroup, NothingThereIsNoLimit) {
  EXPECT_EQ(cgroup_cpus(root_), 0);
  EXPECT_EQ(cgroup_memory_available(root_), UINT64_MAX);
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  write("/sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(cgroup_cpus(root_), 0);
  EXPECT_EQ(cgroup_memory_available(root_), UINT64_MAX);
}

TEST_F(Cgroup, TheTightestOfTheParentsCounts) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "350000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpus(root_), 2);
  write("/sys/fs/cgroup/a/b/memory.max", "8000\n");
  write("/sys/fs/cgroup/a/b/memory.current", "1000\n");
  write("/sys/fs/cgroup/a/memory.max", "6000\n");
  write("/sys/fs/cgroup/a/memory.current", "4000\n");
  EXPECT_EQ(cgroup_memory_available(root_), 2000u);
}

TEST_F(Cgroup, PageCacheIsFree) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "8000\n");
  write("/sys/fs/cgroup/memory.current", "7900\n");
  EXPECT_EQ(cgroup_memory_available(root_), 1000u);  // an eighth in any case
  write("/sys/fs/cgroup/memory.stat", "anon 900\ninactive_file 5000\nactive_file 2000\n");
  EXPECT_EQ(cgroup_memory_available(root_), 7100u);
}

TEST_F(Cgroup, Version1) {
  write("/proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/c\n1:name=systemd:/x\n");
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpus(root_), 0);
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(cgroup_cpus(root_), 4);
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(cgroup_memory_available(root_), UINT64_MAX);
  write("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "800\n");
  write("/sys/fs/cgroup/memory/m/memory.usage_in_bytes", "300\n");
  EXPECT_EQ(cgroup_memory_available(root_), 500u);
}

}  // namespace
}  // namespace hoist
