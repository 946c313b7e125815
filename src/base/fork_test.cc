#include "base/fork.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fork_testing.h"
#include "base/private_fd.h"

namespace hoist {
namespace {

TEST(Fork, AnObjectKnowsItsProcess) {
  const OwnerProcess owner;
  EXPECT_TRUE(owner.is_current());
  EXPECT_TRUE(owner.is_not_forked());
  EXPECT_TRUE(in_child([&] { return !owner.is_not_forked(); }));
  EXPECT_TRUE(in_child([&] {
    const OwnerProcess own;
    return !owner.is_current() && own.is_current() && in_child([&] { return !own.is_current(); });
  }));
  EXPECT_TRUE(owner.is_current());
}

// A child without the handlers of fork().
TEST(Fork, AnObjectKnowsItsProcessWhereNoHandlerRan) {
  const OwnerProcess owner;
  const pid_t child = ::_Fork();
  if (child == 0) ::_exit(owner.is_current() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The numbers of a map are its keys, however many there are, at any moment of a fork.
TEST(Fork, WhatAForkSafeMutexGuardsIsWholeInEveryChild) {
  ForkSafeMutex mutex;
  std::map<uint64_t, std::string> texts;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (uint64_t i = 0; !stop; ++i) {
      const std::lock_guard lock(mutex);
      texts[i % 1000] = std::to_string(i % 1000);
      if (i % 7 == 0) texts.erase(i / 7 % 1000);
    }
  });
  const auto is_whole = [&] {
    const std::shared_lock lock(mutex);
    for (const auto& [number, text] : texts) {
      if (text != std::to_string(number)) return false;
    }
    return true;
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) EXPECT_TRUE(is_whole());
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(in_child(is_whole)) << i;
  stop = true;
  writer.join();
  for (std::thread& reader : readers) reader.join();
}

TEST(Fork, AChildCanChangeWhatItMade) {
  EXPECT_TRUE(in_child([] {
    ForkSafeMutex mutex;
    { const std::lock_guard lock(mutex); }
    return in_child([] {
      ForkSafeMutex other;
      const std::lock_guard lock(other);
      return true;
    });
  }));
}

class PrivateFdTest : public testing::Test {
 protected:
  PrivateFdTest() : path_(testing::TempDir() + "private-fd-" + std::to_string(::getpid())) {}
  ~PrivateFdTest() override { ::unlink(path_.c_str()); }

  UniqueFd open() const { return open_file(path_, O_RDWR | O_CREAT).value(); }
  bool can_be_locked() const { return ::flock(open().get(), LOCK_EX | LOCK_NB) == 0; }

  const std::string path_;
};

TEST_F(PrivateFdTest, ALockIsGoneWithItsOwnerThoughChildrenLive) {
  PrivateFd first(open());
  PrivateFd held(open());
  const PrivateFd last(open());
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::close(pipe[1]);
    const bool has_none = !held.valid() && !first.valid() && !last.valid();
    held = PrivateFd();  // another one may have its number
    char byte;
    const bool waited = ::read(pipe[0], &byte, 1) == 0;
    ::_exit(has_none && waited ? 0 : 1);
  }
  EXPECT_FALSE(can_be_locked());
  first = PrivateFd();
  held = PrivateFd();
  EXPECT_TRUE(can_be_locked());
  ::close(pipe[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(pipe[0]);
}

TEST_F(PrivateFdTest, Moves) {
  PrivateFd from(open());
  const int number = from.get();
  PrivateFd to(std::move(from));
  EXPECT_EQ(to.get(), number);
  to = PrivateFd(open());
  EXPECT_EQ(::fcntl(number, F_GETFD) >= 0, to.get() == number);
  EXPECT_FALSE(PrivateFd().valid());
}

}  // namespace
}  // namespace hoist
