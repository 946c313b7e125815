// One writer at a time, whoever looks and whatever becomes of the file's name.
#include "container/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "container/container_testing.h"

namespace hoist::container {
namespace {

namespace fs = std::filesystem;

class FileLock : public ::testing::Test {
 protected:
  FileLock() : path_(scratch_.file("c")) { write_container(path_, {}, {}); }

  const Scratch scratch_;
  const std::string path_;
};

TEST_F(FileLock, AnAppenderKnowsThatItsNameLeadsElsewhere) {
  const std::string other = scratch_.file("other");
  const std::function<void()> changes[] = {
      [&] {  // replaced, and the old file has a name yet
        fs::create_hard_link(path_, other);
        write_container(scratch_.file("new"), {}, {});
        fs::rename(scratch_.file("new"), path_);
      },
      [&] { fs::rename(path_, other); },
      [&] { fs::remove(path_); },
  };
  for (const auto& change : changes) {
    fs::remove(other);
    write_container(path_, {}, {});
    Result<Writer> writer = Writer::append(path_, {.durable = false});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(1, as_bytes("one")));
    ASSERT_TRUE(writer->commit());
    const bool has_other = (change(), fs::exists(other));
    ASSERT_TRUE(writer->add(2, as_bytes("two")));
    const Status done = writer->commit();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::io);
    EXPECT_NE(done.error().message.find("replaced or removed"), std::string::npos);
    EXPECT_EQ(done.error().message.find("lost") == std::string::npos, has_other);
    EXPECT_FALSE(writer->add(3, as_bytes("three")));
  }
}

TEST_F(FileLock, AnAppenderMayGoElsewhere) {
  const fs::path before = fs::current_path();
  fs::create_symlink("c", scratch_.file("link"));
  fs::current_path(scratch_.path);
  for (const char* name : {"c", "./c", "link"}) {
    fs::current_path(scratch_.path);
    Result<Writer> writer = Writer::append(name, {.durable = false});
    fs::current_path(before);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(name[0], as_bytes("one")));
    EXPECT_TRUE(writer->commit());
  }
}

TEST_F(FileLock, NobodyReplacesWhatIsAppendedTo) {
  Result<Writer> writer = Writer::append(path_, {.durable = false});
  ASSERT_TRUE(writer);
  for (const std::string& name : {path_, scratch_.file("link")}) {
    if (name != path_) fs::create_symlink(path_, name);
    const Result<Writer> other = Writer::create(name, {.durable = false});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::unavailable);
    EXPECT_NE(other.error().message.find("another writer has the file"), std::string::npos);
    // Which process it is can be told where the system lists the file's locks.
    struct stat info {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    const std::string locks = read_file("/proc/locks", size_t{1} << 20).value_or("");
    const bool is_listed = locks.find(":" + std::to_string(info.st_ino) + " ") != std::string::npos;
    const std::string process = "process " + std::to_string(::getpid()) + ", ";
    EXPECT_EQ(other.error().message.find(process) != std::string::npos, is_listed)
        << other.error().message;
  }
  ASSERT_TRUE(writer->add(1, as_bytes("one")));
  ASSERT_TRUE(writer->commit());
  // Nor does anybody append to what is being replaced.
  *writer = Writer::create(scratch_.file("other"), {.durable = false}).value();
  {
    Result<Writer> other = Writer::create(path_, {.durable = false});
    ASSERT_TRUE(other);
    EXPECT_EQ(Writer::append(path_).error().code, ErrorCode::unavailable);
    ASSERT_TRUE(other->commit());
    EXPECT_EQ(Writer::append(path_).error().code, ErrorCode::unavailable);
  }
  EXPECT_TRUE(Writer::append(path_));
}

TEST_F(FileLock, WhoLooksKeepsNobodyAway) {
  std::atomic<bool> is_done = false;
  std::vector<std::thread> lookers(3);
  std::atomic<size_t> seen = 0;
  for (std::thread& looker : lookers) {
    looker = std::thread([&] {
      while (!is_done) {
        const Result<UniqueFd> file = open_file(path_, O_RDONLY);
        seen += static_cast<size_t>(file && has_writer(file->get()));
      }
    });
  }
  size_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const Result<Writer> writer = Writer::append(path_, {.durable = false});
    refused += static_cast<size_t>(!writer);
  }
  is_done = true;
  for (std::thread& looker : lookers) looker.join();
  EXPECT_EQ(refused, 0u);
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace hoist::container
