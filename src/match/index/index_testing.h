// What the tests of an index share: a folder of their own, and random patterns.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "match/index/index.h"

// Children of a ThreadSanitizer build end with a failure for what it sees of RocksDB, which comes
// without instrumentation.
#ifdef __SANITIZE_THREAD__
#define SKIP_UNDER_THREAD_SANITIZER() GTEST_SKIP() << "RocksDB is not instrumented"
#else
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif

namespace hoist::match {

using Events = std::vector<std::vector<std::string>>;

class IndexFolderTest : public testing::Test {
 protected:
  IndexFolderTest() {
    char name[] = "/tmp/hoist-index-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~IndexFolderTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/index"; }

  std::string folder_;
};

// At least two symbols, of an alphabet of `symbols`.
inline Events random_events(std::mt19937_64& random, uint32_t symbols, uint32_t longest = 12) {
  Events events;
  uint32_t left = 2 + static_cast<uint32_t>(random() % (longest - 1));
  while (left > 0) {
    events.emplace_back();
    for (uint32_t size = 1 + random() % 3; size > 0 && left > 0; --size, --left) {
      events.back().push_back("s" + std::to_string(random() % symbols));
    }
  }
  return events;
}

inline std::string name_of(const Events& events, bool sort = true) {
  PatternText pattern = pattern_of(events);
  EXPECT_TRUE(normalise(pattern, sort));
  return pattern_name(pattern);
}

// This program again, as a process that runs the disabled tests of `filter` only (the threads of
// RocksDB do not live on in a forked process). Its id; `set_environment` runs in the child.
inline pid_t start_child(const std::string& filter, const std::function<void()>& set_environment) {
  const std::string option = "--gtest_filter=" + filter;
  const pid_t child = ::fork();
  if (child != 0) return child;
  set_environment();
  ::execl("/proc/self/exe", "child", option.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", nullptr);
  ::_exit(1);
}

}  // namespace hoist::match
