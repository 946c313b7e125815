// A test's own cache of compiled code, which is gone with the program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hoist::px {

class OwnCache : public testing::Environment {
 public:
  void SetUp() override {
    folder_ = testing::TempDir() + "hoist-px-test-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_;
};

inline testing::Environment* const kOwnCache = testing::AddGlobalTestEnvironment(new OwnCache);

}  // namespace hoist::px
