#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "match/index/index_testing.h"
#include "match/index/snapshot.h"

namespace hoist::match {
namespace {

class SnapshotCheckTest : public IndexFolderTest {
 protected:
  void SetUp() override {
    const auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    for (const char* last : {"b", "c"}) {  // two commits
      ASSERT_TRUE((*index)->learn({{"a"}, {last}}));
      ASSERT_TRUE((*index)->sync());
    }
    bytes_ = read_file(snapshot(), 1 << 20).value();
  }
  std::string snapshot() const { return path() + "/snapshot.hoist"; }
  Status check(const std::string& bytes) const {
    std::ofstream(snapshot(), std::ios::binary | std::ios::trunc) << bytes;
    return check_snapshot(snapshot());
  }

  std::string bytes_;
};

// Every byte of the last commit, and of the others every eleventh.
TEST_F(SnapshotCheckTest, EveryByteCounts) {
  ASSERT_TRUE(check(bytes_));
  const size_t last = bytes_.size() - 800;
  for (size_t i = test_seed() % 11; i < bytes_.size(); i += i < last ? 11 : 1) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(check(damaged)) << i;
  }
}

TEST_F(SnapshotCheckTest, WhatACrashLeavesIsNoDamage) {
  const std::string frame = bytes_.substr(32, 100);
  for (const std::string& rest : {std::string(1, '\0'), std::string(5000, 'x'), frame}) {
    EXPECT_TRUE(check(bytes_ + rest)) << rest.size();
  }
  EXPECT_FALSE(check(bytes_.substr(0, 64)));  // no commit
}

// The end of the list of blocks, without which the file is read too.
TEST_F(SnapshotCheckTest, VerifySeesIt) {
  std::string damaged = bytes_;
  damaged[damaged.size() - 5] = static_cast<char>(damaged[damaged.size() - 5] ^ 1);
  ASSERT_FALSE(check(damaged));
  const auto index = Index::open(path(), {.read_only = true});
  ASSERT_TRUE(index);
  const auto verified = (*index)->verify();
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::match
