#include "match/store/read_beside_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hoist::match {
namespace {

class ReadBesideWriter : public testing::Test {
 protected:
  ReadBesideWriter() {
    char name[] = "/tmp/hoist-beside-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~ReadBesideWriter() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::app) << text;
  }

  std::string folder_;
  int tries_ = 0;
};

const Error kLost = fail(ErrorCode::corrupt, "lost");

TEST_F(ReadBesideWriter, WhatIsLostWithTheSameFilesIsLost) {
  write("000004.log", "some");
  const Status read = read_beside_writer(folder_, [&]() -> Status {
    ++tries_;
    write("000004.log", "more");  // moves nothing
    return kLost;
  });
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_EQ(tries_, 1);
}

TEST_F(ReadBesideWriter, TriesAgainAsLongAsFilesMove) {
  const auto read_until = [&](int last, const std::function<void()>& move) {
    tries_ = 0;
    return read_beside_writer(folder_, [&, last]() -> Status {
      if (++tries_ == last) return {};
      move();
      return kLost;
    });
  };
  EXPECT_TRUE(read_until(12, [&] { write(std::to_string(tries_) + ".log", ""); }));
  EXPECT_EQ(tries_, 12);
  EXPECT_TRUE(read_until(
      8, [&] { std::filesystem::remove(folder_ + "/" + std::to_string(tries_) + ".log"); }));
  EXPECT_EQ(tries_, 8);
  EXPECT_TRUE(read_until(8, [&] { write("MANIFEST-000005", "edit"); }));
  EXPECT_EQ(tries_, 8);
}

TEST_F(ReadBesideWriter, GivesUpWithoutCallingItDamage) {
  const Status read = read_beside_writer(
      folder_,
      [&]() -> Status {
        write(std::to_string(++tries_) + ".log", "");
        return kLost;
      },
      std::chrono::milliseconds(20));
  EXPECT_EQ(read.error().code, ErrorCode::unavailable);
  EXPECT_NE(read.error().message.find("lost"), std::string::npos);
  EXPECT_GT(tries_, 1);
}

TEST_F(ReadBesideWriter, AFolderThatIsNotThereIsReadOnce) {
  const Status read = read_beside_writer(folder_ + "/none", [&]() -> Status {
    ++tries_;
    return kLost;
  });
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_EQ(tries_, 1);
}

}  // namespace
}  // namespace hoist::match
