// The cache of generated code: damage, strangers, several processes at once, limits.
#include "device/module_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "base/fork_testing.h"

namespace hoist::device {
namespace {

namespace fs = std::filesystem;
using Code = std::vector<std::byte>;

constexpr uint64_t kLimit = 1 << 20;

Code code_of(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Code code(size);
  for (std::byte& byte : code) byte = static_cast<std::byte>(random());
  return code;
}

ModuleCache::Key key_of(int number) { return ModuleCache::key({std::to_string(number), "sm_90"}); }

class ModuleCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "hoist-kernels-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  ModuleCache open(uint64_t limit = kLimit) const {
    return ModuleCache::open(folder_ / "kernels", limit).value();
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_ / "kernels")) found.push_back(entry);
    return found;
  }
  fs::path only_entry() const {
    EXPECT_EQ(entries().size(), 1U);
    return entries().at(0);
  }

  fs::path folder_;
};

TEST_F(ModuleCacheTest, WhatWasPutIsFound) {
  const ModuleCache cache = open();
  EXPECT_EQ(cache.find(key_of(1)).error().code, ErrorCode::not_found);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100000}}) {
    const Code code = code_of(size, 1);
    ASSERT_TRUE(cache.put(key_of(1), code));
    EXPECT_EQ(open().find(key_of(1)).value(), code);
  }
  EXPECT_EQ(cache.find(key_of(2)).error().code, ErrorCode::not_found);
}

TEST_F(ModuleCacheTest, EverythingThatTheCodeDependsOnIsInTheKey) {
  const std::vector<std::string> one = {"-O3", "-G"};
  const std::vector<std::string> other = {"-O3-G"};
  const std::vector<std::string> turned = {"-G", "-O3"};
  const std::set<ModuleCache::Key> keys = {
      ModuleCache::key({"text", "sm_90"}),        ModuleCache::key({"text2", "sm_90"}),
      ModuleCache::key({"text", "sm_100"}),       ModuleCache::key({"textsm_90", ""}),
      ModuleCache::key({"text", "sm_90", one}),   ModuleCache::key({"text", "sm_90", other}),
      ModuleCache::key({"text", "sm_90", turned})};
  EXPECT_EQ(keys.size(), 7U);
  EXPECT_EQ(ModuleCache::key({"text", "sm_90", one}), ModuleCache::key({"text", "sm_90", one}));
}

TEST_F(ModuleCacheTest, ADamagedEntryIsPassedOverAndReplaced) {
  const ModuleCache cache = open();
  const Code code = code_of(300, 2);
  ASSERT_TRUE(cache.put(key_of(1), code));
  const fs::path path = only_entry();
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(path, std::ios::binary) << changed;
    ASSERT_EQ(cache.find(key_of(1)).error().code, ErrorCode::corrupt) << "byte " << at;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    ASSERT_EQ(cache.find(key_of(1)).error().code, ErrorCode::corrupt) << size << " bytes";
  }
  ASSERT_TRUE(cache.put(key_of(1), code));
  EXPECT_EQ(cache.find(key_of(1)).value(), code);
}

TEST_F(ModuleCacheTest, AnotherEntrysContentIsNone) {
  const ModuleCache cache = open();
  ASSERT_TRUE(cache.put(key_of(1), code_of(10, 1)));
  const fs::path first = only_entry();
  ASSERT_TRUE(cache.put(key_of(2), code_of(10, 2)));
  for (const fs::path& path : entries()) {
    if (path != first) fs::copy_file(first, path, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(cache.find(key_of(2)).error().code, ErrorCode::corrupt);
}

TEST_F(ModuleCacheTest, WhatOthersMayHaveWrittenIsNotUsed) {
  const ModuleCache cache = open();
  const Code code = code_of(100, 3);
  ASSERT_TRUE(cache.put(key_of(1), code));
  const fs::path path = only_entry();
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(cache.find(key_of(1)).error().code, ErrorCode::io);
  }
  ASSERT_TRUE(cache.put(key_of(1), code));
  EXPECT_TRUE(cache.find(key_of(1)));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 1, 1), 0);
    EXPECT_EQ(cache.find(key_of(1)).error().code, ErrorCode::io);
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  fs::rename(path, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", path);
  EXPECT_FALSE(cache.find(key_of(1)));
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);  // without a writer
  EXPECT_FALSE(cache.find(key_of(1)));
  ASSERT_TRUE(cache.put(key_of(1), code));
  EXPECT_EQ(cache.find(key_of(1)).value(), code);

  ASSERT_EQ(::chmod((folder_ / "kernels").c_str(), 0777), 0);
  EXPECT_EQ(cache.find(key_of(1)).error().code, ErrorCode::io);
  EXPECT_EQ(cache.put(key_of(1), code).error().code, ErrorCode::io);
  EXPECT_EQ(ModuleCache::open(folder_ / "kernels", kLimit).error().code, ErrorCode::io);
}

TEST_F(ModuleCacheTest, TheOldestMakeRoom) {
  constexpr size_t kSize = 20000;
  const ModuleCache cache = open(5 * (kSize + 80));
  const auto set_age = [&](int number, int hours) {
    for (const fs::path& path : entries()) {
      if (fs::last_write_time(path) + std::chrono::minutes(30) > fs::file_time_type::clock::now()) {
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
      }
    }
    ASSERT_TRUE(number > 0);
  };
  for (int number = 1; number <= 5; ++number) {
    ASSERT_TRUE(cache.put(key_of(number), code_of(kSize, 1)));
    set_age(number, 10 - number);
  }
  ASSERT_TRUE(cache.find(key_of(1)));  // was the oldest, is used now
  ASSERT_TRUE(cache.put(key_of(6), code_of(kSize, 1)));
  EXPECT_EQ(entries().size(), 5U);
  EXPECT_TRUE(cache.find(key_of(1)));
  EXPECT_EQ(cache.find(key_of(2)).error().code, ErrorCode::not_found);
  for (int number = 3; number <= 6; ++number) EXPECT_TRUE(cache.find(key_of(number))) << number;
  EXPECT_EQ(cache.put(key_of(7), code_of(6 * kSize, 1)).error().code, ErrorCode::exhausted);
}

TEST_F(ModuleCacheTest, UnfinishedFilesGoInTheEnd) {
  const ModuleCache cache = open();
  ASSERT_TRUE(cache.put(key_of(1), code_of(10, 1)));
  const fs::path path = only_entry();
  const fs::path old = path.string() + ".aaaaaa";
  const fs::path young = path.string() + ".bbbbbb";
  std::ofstream(old) << "x";
  std::ofstream(young) << "x";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.put(key_of(1), code_of(10, 1)));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(ModuleCacheTest, WithoutRoomOnTheDiskTheOldEntryStays) {
  const ModuleCache cache = open();
  const Code code = code_of(500, 4);
  ASSERT_TRUE(cache.put(key_of(1), code));
  EXPECT_TRUE(in_child([&] {
    const rlimit limit = {1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const Status written = cache.put(key_of(1), code_of(10000, 5));
    const Status other = cache.put(key_of(2), code_of(10000, 5));
    return !written && written.error().code == ErrorCode::io && !other;
  }));
  EXPECT_EQ(entries().size(), 1U);
  EXPECT_EQ(cache.find(key_of(1)).value(), code);
}

// Each puts, finds and has others' entries removed; whatever is found is right.
bool work_beside_others(const ModuleCache& cache, unsigned seed) {
  constexpr int kKeys = 12;
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const int number = static_cast<int>(random() % kKeys);
    const Code code =
        code_of(10000 + 1000 * static_cast<size_t>(number), static_cast<unsigned>(number));
    if (random() % 2 == 0 && !cache.put(key_of(number), code)) return false;
    const Result<Code> found = cache.find(key_of(number));
    if (found ? *found != code : found.error().code != ErrorCode::not_found) return false;
  }
  return true;
}

TEST_F(ModuleCacheTest, SeveralProcessesUseItAtOnce) {
  constexpr unsigned kProcesses = 6;
  const ModuleCache cache = open(100000);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::_exit(work_beside_others(cache, i) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  uint64_t sum = 0;
  for (const fs::path& path : entries()) {
    EXPECT_EQ(path.extension(), ".kernel");
    sum += fs::file_size(path);
  }
  EXPECT_LE(sum, 100000U);
}

TEST_F(ModuleCacheTest, TheUsersIsInTheCacheFolder) {
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", folder_.c_str(), 1), 0);
  const Result<ModuleCache> cache = ModuleCache::open();
  ASSERT_TRUE(cache) << cache.error().message;
  ASSERT_TRUE(cache->put(key_of(1), code_of(10, 1)));
  EXPECT_EQ(fs::status(folder_ / "hoist/kernels").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(cache->find(key_of(1)));
}

}  // namespace
}  // namespace hoist::device
