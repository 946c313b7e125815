// Writers in a child after fork(): what they had begun stays their parent's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/fork_testing.h"
#include "container/reader.h"
#include "container/verify.h"
#include "container/writer.h"

namespace hoist::container {
namespace {

class WriterForkTest : public testing::Test {
 protected:
  WriterForkTest() {
    char name[] = "/tmp/hoist-container-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~WriterForkTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/file"; }

  // Adds, commits and destroys.
  static bool is_refused(std::optional<Writer>& writer) {
    const Status added = writer->add(99, as_bytes(std::string(100'000, 'c')));
    const Status done = writer->commit();
    writer.reset();
    return !added && added.error().code == ErrorCode::unavailable && !done &&
           done.error().code == ErrorCode::unavailable;
  }

  void expect_blocks(size_t count) const {
    const auto reader = Reader::open(open_file_source(path()).value());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->blocks().size(), count);
    EXPECT_EQ(reader->state(), IndexState::committed);
  }

  std::string folder_;
};

TEST_F(WriterForkTest, ANewFileIsItsParents) {
  std::optional<Writer> writer = Writer::create(path()).value();
  ASSERT_TRUE(writer->add(1, as_bytes(std::string("one"))));
  EXPECT_TRUE(in_child([&] { return is_refused(writer); }));
  EXPECT_FALSE(std::filesystem::exists(path()));
  ASSERT_TRUE(writer->add(2, as_bytes(std::string("two"))));
  ASSERT_TRUE(writer->commit());
  expect_blocks(2);
}

TEST_F(WriterForkTest, AnAppendedFileIsItsParents) {
  ASSERT_TRUE(Writer::create(path())->commit());
  std::optional<Writer> writer = Writer::append(path()).value();
  ASSERT_TRUE(writer->add(1, as_bytes(std::string("one"))));
  EXPECT_TRUE(in_child([&] { return is_refused(writer); }));
  ASSERT_TRUE(writer->add(2, as_bytes(std::string("two"))));
  ASSERT_TRUE(writer->commit());
  expect_blocks(2);
}

TEST_F(WriterForkTest, AChildKeepsNoLock) {
  ASSERT_TRUE(Writer::create(path())->commit());
  std::optional<Writer> writer = Writer::append(path()).value();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::close(pipe[1]);
    char byte;
    ::_exit(::read(pipe[0], &byte, 1) == 0 ? 0 : 1);
  }
  EXPECT_EQ(Writer::append(path()).error().code, ErrorCode::unavailable);
  writer.reset();
  EXPECT_TRUE(Writer::append(path()));
  ::close(pipe[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(pipe[0]);
}

TEST_F(WriterForkTest, AChildWritesItsOwn) {
  const Writer parents = Writer::create(path()).value();
  EXPECT_TRUE(in_child([&] {
    Result<Writer> writer = Writer::create(path());
    return writer && writer->add(1, as_bytes(std::string("one"))) && writer->commit();
  }));
  expect_blocks(1);
}

}  // namespace
}  // namespace hoist::container
