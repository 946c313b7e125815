// What is said about a finished run: verdict.h in words, stats_file.h as a file.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/counters.h"
#include "cli/segments.h"
#include "cli/stats_file.h"
#include "cli/verdict.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

const std::string kEarlier = Counters().to_json() + "\n";  // what an earlier run has left

class Reports : public testing::Test {
 protected:
  Reports() {
    std::string name = (fs::temp_directory_path() / "hoist-reports-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    counters_ = std::move(*Counters::create(file("counters"), ::getpid()));
  }
  ~Reports() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ / name; }
  hoist_counters& raw() { return const_cast<hoist_counters&>(*counters_->layout()); }

  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static void write(const std::string& name, const std::string& text) {
    const Result<StatsFile> found = StatsFile::find(name);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->write(text));
  }
  static ino_t inode(const std::string& path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return info.st_ino;
  }

  fs::path folder_;
  std::unique_ptr<Counters> counters_;
};

TEST_F(Reports, Summary) {
  counters_->add_program(12, {"sort", "", "x"}, true, "build known");
  counters_->add_call("sort", "cpu-all", 2000000, 1000000000);
  EXPECT_EQ(summarise(*counters_),
            "hoist: sort '' x (pid 12): ran on the engine: build known\n"
            "hoist: sort: 1 calls, 2.0 MB, 1.000 s, cpu-all x 1\n");
  EXPECT_EQ(what_is_missing(*counters_), "");
}

TEST_F(Reports, ProgramsWithoutAnEngineShareALine) {
  const auto add = [this](int pid, const char* program) {
    counters_->add_program(pid, {program, "-c", "x"}, false, "no engine replaces it");
  };
  add(1, "/bin/sh");
  EXPECT_EQ(summarise(*counters_),
            "hoist: /bin/sh -c x (pid 1): ran on the original: no engine replaces it\n");
  for (int pid = 2; pid < 5; ++pid) add(pid, "cat");
  counters_->add_program(5, {"sort"}, false, "small input");
  for (const char* name : {"a", "b", "c", "d", "e"}) add(6, name);
  EXPECT_EQ(summarise(*counters_),
            "hoist: sort (pid 5): ran on the original: small input\n"
            "hoist: 9 programs ran on the original: no engine replaces them: cat x 3, a, b, c, d "
            "and 2 more\n");
}

TEST_F(Reports, NothingSeenAndTooMuchSeen) {
  EXPECT_EQ(what_is_missing(*counters_),
            "hoist: no program was seen (static, setuid or of another word size)\n");
  raw().program_count = HOIST_MAX_PROGRAMS + 5;
  EXPECT_EQ(what_is_missing(*counters_),
            "hoist: 5 more programs were not recorded: there is room for 4096\n");
}

TEST_F(Reports, VerificationSaysWhatItLeftOut) {
  counters_->add_passed("sort", "verify: same");
  counters_->add_passed("sort", "verify: left out (writes files)");
  counters_->add_passed("sort", "verify: left out (writes files)");
  counters_->add_passed("hash", "verify: no room for the results");
  counters_->add_passed("gunzip", "small input");
  EXPECT_EQ(verification_verdict(*counters_),
            "hoist: sort: 1 verified, 0 mismatch, 2 left out (writes files)\n"
            "hoist: hash: 0 verified, 0 mismatch, 1 left out (no room for the results)\n");
}

TEST_F(Reports, HostileCountersStayInBounds) {
  memset(static_cast<void*>(raw().operations), 'A', sizeof raw().operations);
  memset(static_cast<void*>(raw().programs), 'B', sizeof raw().programs);
  raw().operation_count = raw().program_count = 0xffffffff;
  EXPECT_FALSE(summarise(*counters_).empty());
  verification_verdict(*counters_);
  what_is_missing(*counters_);
  explain_programs(*counters_);
}

TEST_F(Reports, APlainFileIsReplacedAndKeepsItsMode) {
  put(file("plain"), kEarlier);
  ::chmod(file("plain").c_str(), 0604);
  std::ifstream reader(file("plain"));
  write(file("plain"), "after");
  EXPECT_EQ(content(file("plain")), "after");
  std::ostringstream old;
  old << reader.rdbuf();
  EXPECT_EQ(old.str(), kEarlier);
  EXPECT_EQ(fs::status(file("plain")).permissions(), fs::perms(0604));
  write(file("new"), "x");
  EXPECT_EQ(content(file("new")), "x");
}

TEST_F(Reports, LinksAreFollowed) {
  put(file("target"), kEarlier);
  fs::create_directory(file("folder"));
  fs::create_symlink("../target", file("folder/link"));
  fs::create_symlink("folder/link", file("chain"));
  fs::create_symlink("later", file("dangling"));
  write(file("chain"), "one");
  EXPECT_EQ(content(file("target")), "one");
  write(file("dangling"), "two");
  EXPECT_EQ(content(file("later")), "two");
  for (const char* link : {"chain", "folder/link", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(file(link))) << link;
  }
  fs::create_symlink("round", file("round"));
  EXPECT_FALSE(StatsFile::find(file("round")));
}

TEST_F(Reports, OtherNamesOfAFileKeepItsContent) {
  put(file("one"), kEarlier);
  fs::create_hard_link(file("one"), file("two"));
  write(file("one"), "after");
  EXPECT_EQ(content(file("two")), "after");
}

TEST_F(Reports, DescriptorsAndDevicesAreWrittenThrough) {
  put(file("stdout"), "");
  const int saved = ::dup(STDOUT_FILENO);
  ASSERT_NE(::freopen(file("stdout").c_str(), "w", stdout), nullptr);
  const ino_t before = inode(file("stdout"));
  fs::create_symlink("/dev/stdout", file("link"));
  ASSERT_EQ(::write(STDOUT_FILENO, "said ", 5), 5);  // as the program did
  write("/dev/stdout", "first ");
  write("/proc/self/fd/1", "second ");
  write(file("link"), "third");
  ::dup2(saved, STDOUT_FILENO);
  EXPECT_EQ(content(file("stdout")), "said first second third");
  EXPECT_EQ(inode(file("stdout")), before);
  write("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Reports, NothingButStatisticsIsReplaced) {
  put(file("notes"), "{\"programs\": none of ours}");
  fs::create_symlink("notes", file("link"));
  fs::create_hard_link(file("notes"), file("other"));
  for (const char* name : {"notes", "link", "other"}) {
    const Result<StatsFile> found = StatsFile::find(file(name));
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
  }
  put(file("empty"), "");
  write(file("empty"), "x");
  EXPECT_EQ(content(file("empty")), "x");
  // What the program that ran has made.
  for (const char* name : {"new", "earlier"}) {
    if (name[0] == 'e') put(file(name), kEarlier);
    const Result<StatsFile> found = StatsFile::find(file(name));
    ASSERT_TRUE(found);
    put(file(name), "the program's");
    EXPECT_FALSE(found->write("x")) << name;
    EXPECT_EQ(content(file(name)), "the program's");
  }
}

TEST_F(Reports, WhatCannotBeWrittenIsRefusedBefore) {
  for (const std::string& name : {std::string(), folder_.string(), folder_.string() + "/"}) {
    const Result<StatsFile> found = StatsFile::find(name);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::invalid_argument) << name;
  }
  for (const std::string& name : {file("no/such"), std::string("/dev/fd/999")}) {
    const Result<StatsFile> found = StatsFile::find(name);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::io) << name;
  }
}

}  // namespace
}  // namespace hoist::cli
