#include "base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace hoist {
namespace {

namespace fs = std::filesystem;

class Outputs : public testing::Test {
 protected:
  Outputs() {
    std::string name = (fs::temp_directory_path() / "hoist-outputs-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Outputs() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string content(const std::string& name) const {
    return read_file(file(name), 1 << 20).value_or("(none)");
  }
  void put(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(write_file_atomically(file(name), text));
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  void expect_refused(const std::string& name, const OutputRule& rule, std::string_view why) const {
    for (const Status& refused :
         {check_output(file(name), rule), write_output(file(name), "new", rule)}) {
      ASSERT_FALSE(refused) << name;
      EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << name;
      EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    }
  }

  std::string folder_;
};

constexpr OutputRule kReplace = {.replace = Replace::any};

bool begins_with_a(int fd) {
  char first = 0;
  return pread_full(fd, &first, 1, 0).value_or(0) == 1 && first == 'a';
}
const OutputRule kOwnKind = {
    .replace = Replace::own_kind, .is_own_kind = begins_with_a, .kind = "a text of ours"};

OutputFile create(const std::string& name, const OutputRule& rule) {
  return std::move(OutputFile::create(name, rule)).value();
}

TEST_F(Outputs, ANewFileAppearsWholeWithTheUsualMode) {
  const mode_t mask = ::umask(027);
  auto made = OutputFile::create(file("new"));
  ::umask(mask);
  ASSERT_TRUE(made);
  ASSERT_TRUE(write_full(made->fd(), "text", 4));
  EXPECT_FALSE(fs::exists(file("new")));
  ASSERT_TRUE(made->publish());
  EXPECT_EQ(content("new"), "text");
  EXPECT_EQ(fs::status(file("new")).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1U);
}

TEST_F(Outputs, NothingIsLeftOfWhatIsNotPublished) {
  { const auto made = OutputFile::create(file("new")); }
  EXPECT_EQ(files(), 0U);
}

TEST_F(Outputs, WhatExistsIsRefusedUnderAnyName) {
  put("old", "old");
  put("empty", "");
  fs::create_symlink("old", file("soft"));
  ASSERT_EQ(::link(file("old").c_str(), file("hard").c_str()), 0);
  fs::create_directory(file("folder"));
  fs::create_directory_symlink(".", file("same"));
  for (const char* name : {"old", "soft", "hard", "empty", "same/old", "./old", "folder/../old"}) {
    expect_refused(name, {}, "exists");
  }
  EXPECT_NE(check_output(file("soft"), {}).error().message.find("leads to " + file("old")),
            std::string::npos);
  for (const Replace replace : {Replace::never, Replace::any}) {
    expect_refused("folder", {.replace = replace}, "is a folder");
    expect_refused("folder/", {.replace = replace}, "is a folder");
    expect_refused("none/", {.replace = replace}, "is a folder");
  }
  EXPECT_EQ(content("old"), "old");
  EXPECT_FALSE(check_output("", {}));
}

TEST_F(Outputs, AFileThatAppearsMeanwhileIsRefused) {
  OutputFile made = create(file("new"), {});
  put("new", "somebody else's");
  const Status refused = made.publish();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("exists"), std::string::npos);
  EXPECT_EQ(content("new"), "somebody else's");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Outputs, OfManyWritersOneWins) {
  std::atomic<int> won = 0;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 16; ++i) {
    writers.emplace_back([&] { won += write_output(file("new"), "x", {}, 0644).has_value(); });
  }
  writers.clear();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Outputs, WhatIsReplacedPassesItsModeOnAndKeepsItsOtherNames) {
  put("old", "old");
  ::chmod(file("old").c_str(), 0604);
  ASSERT_EQ(::link(file("old").c_str(), file("hard").c_str()), 0);
  fs::create_symlink("old", file("soft"));
  ASSERT_TRUE(write_output(file("soft"), "new", kReplace));
  EXPECT_TRUE(fs::is_symlink(file("soft")));
  EXPECT_EQ(content("old"), "new");
  EXPECT_EQ(fs::status(file("old")).permissions(), fs::perms(0604));
  EXPECT_EQ(content("hard"), "old");
  EXPECT_EQ(files(), 3U);
}

TEST_F(Outputs, ALinkToNothingMakesWhatItLeadsTo) {
  fs::create_symlink("later", file("soft"));
  ASSERT_TRUE(write_output(file("soft"), "new"));
  EXPECT_TRUE(fs::is_symlink(file("soft")));
  EXPECT_EQ(content("later"), "new");
  fs::create_symlink("round", file("round"));
  EXPECT_FALSE(check_output(file("round"), kReplace));
}

TEST_F(Outputs, AnInputIsNeverReplaced) {
  put("input", "precious");
  fs::create_symlink("input", file("soft"));
  ASSERT_EQ(::link(file("input").c_str(), file("hard").c_str()), 0);
  fs::create_directory_symlink(".", file("same"));
  for (const char* name : {"input", "soft", "hard", "same/input"}) {
    for (const Replace replace : {Replace::never, Replace::any}) {
      expect_refused(name, {.replace = replace, .inputs = {file("input")}}, "are the same file");
    }
  }
  EXPECT_EQ(content("input"), "precious");
}

TEST_F(Outputs, OnlyTheOwnKindIsReplaced) {
  put("ours", "abc");
  put("other", "xyz");
  put("empty", "");
  ASSERT_TRUE(write_output(file("ours"), "after", kOwnKind));
  ASSERT_TRUE(write_output(file("empty"), "after", kOwnKind));
  ASSERT_TRUE(write_output(file("none"), "after", kOwnKind));
  expect_refused("other", kOwnKind, "exists (not a text of ours)");
  EXPECT_EQ(content("ours"), "after");
  EXPECT_EQ(content("empty"), "after");
  EXPECT_EQ(content("other"), "xyz");
  EXPECT_EQ(files(), 4U);
}

TEST_F(Outputs, AnotherKindThatComesMeanwhileIsRefused) {
  put("ours", "abc");
  OutputFile made = create(file("ours"), kOwnKind);
  put("ours", "xyz");
  EXPECT_FALSE(made.publish());
  EXPECT_EQ(content("ours"), "xyz");
}

TEST_F(Outputs, DevicesPipesAndDescriptorsAreWrittenThrough) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const UniqueFd reader(::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(write_output(file("pipe"), "through", {}));
  char text[16] = "";
  EXPECT_EQ(::read(reader.get(), text, sizeof text), 7);
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
  // Root could replace the machine's device: it gets one of the test's own, where it may have one.
  std::string device = "/dev/null";
  if (::geteuid() == 0) {
    device = file("null");
    ::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3));
  }
  if (::access(device.c_str(), W_OK) == 0 && UniqueFd(::open(device.c_str(), O_WRONLY)).valid()) {
    for (const Replace replace : {Replace::never, Replace::any}) {
      ASSERT_TRUE(write_output(device, "gone", {.replace = replace}));
      EXPECT_TRUE(fs::is_character_file(device));
    }
  }
  const UniqueFd own(::open(file("own").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_TRUE(write_full(own.get(), "first ", 6));
  ASSERT_TRUE(write_output("/dev/fd/" + std::to_string(own.get()), "second"));
  EXPECT_EQ(content("own"), "first second");
  const UniqueFd only_read(::open(file("own").c_str(), O_RDONLY));
  EXPECT_FALSE(write_output("/dev/fd/" + std::to_string(only_read.get()), "x"));
}

TEST_F(Outputs, AllOrNone) {
  put("b", "old b");
  put("d", "somebody's");
  const auto several = [&](const OutputRule& last) {
    std::vector<OutputFile> made;
    made.push_back(create(file("a"), {}));
    made.push_back(create(file("b"), kReplace));
    made.push_back(create(file("c"), last));
    for (const OutputFile& one : made) EXPECT_TRUE(write_full(one.fd(), "new", 3));
    return made;
  };
  {
    std::vector<OutputFile> made = several({});
    put("c", "meanwhile");
    EXPECT_FALSE(OutputFile::publish_all(made));
  }
  EXPECT_FALSE(fs::exists(file("a")));
  EXPECT_EQ(content("b"), "old b");
  EXPECT_EQ(content("c"), "meanwhile");
  EXPECT_EQ(files(), 3U);
  {
    std::vector<OutputFile> made = several(kReplace);
    EXPECT_TRUE(OutputFile::publish_all(made));
  }
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(content(name), "new");
  EXPECT_EQ(content("d"), "somebody's");
  EXPECT_EQ(files(), 4U);
}

TEST_F(Outputs, AFolderThatCannotBeReadTakesFiles) {
  constexpr uid_t kNobody = 65534;
  const std::string folder = file("drop-box");
  ASSERT_TRUE(fs::create_directory(folder));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0300), 0);
  ASSERT_EQ(::chmod(fs::path(folder).parent_path().c_str(), 0711), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) ::_exit(2);
    std::vector<OutputFile> made;
    made.push_back(create(folder + "/new", {}));
    ::_exit(OutputFile::publish_all(made) && ::access((folder + "/new").c_str(), F_OK) == 0 ? 0
                                                                                            : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::chmod(folder.c_str(), 0700);
}

TEST_F(Outputs, AChildLeavesItsParentsFile) {
  OutputFile made = create(file("a"), {});
  ASSERT_TRUE(write_full(made.fd(), "new", 3));
  const pid_t child = ::fork();
  if (child == 0) {
    const Status published = made.publish();
    { const OutputFile gone = std::move(made); }
    const bool is_refused = !published && published.error().code == ErrorCode::unavailable;
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 0U);
  EXPECT_TRUE(made.publish());
  EXPECT_EQ(content("a"), "new");
}

TEST_F(Outputs, AFolderThatIsMissing) {
  const Status refused = check_output(file("none/new"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_EQ(write_output(file("none/new"), "x").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace hoist
