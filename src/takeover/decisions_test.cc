#include "takeover/decisions.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr uint64_t kKey = 0x5f0c9d3a77e1b204;
const std::string kHead = "hoist-decisions 1 5f0c9d3a77e1b204\n";

class Decisions : public ::testing::Test {
 protected:
  bool parse(const std::string& text) {
    return hoist_parse_decisions(&decisions_, text.data(), text.size(), kKey);
  }
  hoist_choice decide(const char* name, int cpus, uint64_t bytes) {
    return hoist_decide(&decisions_, name, cpus, bytes);
  }

  hoist_decisions decisions_ = {};
};

TEST_F(Decisions, CompiledInRowsAnswerWithoutAFile) {
  EXPECT_EQ(decide("sort/C", 2, (512 << 10) - 1), HOIST_CHOICE_ORIGINAL);
  EXPECT_EQ(decide("sort/C", 2, 512 << 10), HOIST_CHOICE_CPU_ALL);
  EXPECT_EQ(decide("sort/C", 1, 512 << 10), HOIST_CHOICE_CPU_1);
  EXPECT_EQ(hoist_break_even(&decisions_, "gunzip/gzip", 8), 192u << 10);
  EXPECT_EQ(hoist_break_even(&decisions_, "hash/b2sum", 8), UINT64_MAX);
  EXPECT_EQ(decide("hash/b2sum", 8, UINT64_MAX), HOIST_CHOICE_ORIGINAL);
  EXPECT_EQ(decide("hash/none", 8, 1), HOIST_CHOICE_UNKNOWN);
  EXPECT_EQ(hoist_break_even(&decisions_, "hash/none", 8), UINT64_MAX);
  EXPECT_FALSE(hoist_is_measured(&decisions_, "sort/C", 2));
}

TEST_F(Decisions, AGpuMayBeAChoice) {
  ASSERT_TRUE(parse(kHead + "sort/C cpus=1 0 original 1000 cuda\n"
                            "sort/C cpus=4 0 original 700 cpu-all 9000 cuda\n"));
  EXPECT_EQ(decide("sort/C", 1, 1000), HOIST_CHOICE_CUDA);
  EXPECT_EQ(decide("sort/C", 8, 8999), HOIST_CHOICE_CPU_ALL);
  EXPECT_EQ(decide("sort/C", 8, 9000), HOIST_CHOICE_CUDA);
  EXPECT_STREQ(hoist_choice_name(HOIST_CHOICE_CUDA), "cuda");
  ASSERT_TRUE(
      parse(kHead + "sort/C cpus=1 0 original\nsort/C+hoistd cpus=1 0 original 9 hoistd\n"));
  EXPECT_EQ(decide("sort/C", 1, 9), HOIST_CHOICE_ORIGINAL);
  EXPECT_EQ(decide("sort/C" HOIST_WITH_HOISTD, 1, 9), HOIST_CHOICE_HOISTD);
  EXPECT_STREQ(hoist_choice_name(HOIST_CHOICE_HOISTD), "hoistd");
  EXPECT_FALSE(parse(kHead + "sort/C cpus=1 0 cuda-1\n"));
}

TEST_F(Decisions, TheRowForTheNextSmallerNumberOfCpusCounts) {
  ASSERT_TRUE(parse(kHead + "sort/C cpus=1 0 original 1000 cpu-1\n"
                            "sort/C cpus=8 0 original 500 cpu-1 2000 cpu-all\n"
                            "sort/C cpus=2 0 original 700 cpu-1 9000 cpu-all\n"
                            "hash/b2sum cpus=4 0 cpu-all\n"));
  EXPECT_EQ(decide("sort/C", 1, 999), HOIST_CHOICE_ORIGINAL);
  EXPECT_EQ(decide("sort/C", 1, 1u << 30), HOIST_CHOICE_CPU_1);
  EXPECT_EQ(decide("sort/C", 0, 1u << 30), HOIST_CHOICE_CPU_1);
  EXPECT_EQ(hoist_break_even(&decisions_, "sort/C", 7), 700u);
  EXPECT_EQ(decide("sort/C", 7, 8999), HOIST_CHOICE_CPU_1);
  EXPECT_EQ(decide("sort/C", 7, 9000), HOIST_CHOICE_CPU_ALL);
  EXPECT_EQ(hoist_break_even(&decisions_, "sort/C", 64), 500u);
  EXPECT_EQ(decide("sort/C", 64, 2000), HOIST_CHOICE_CPU_ALL);
  EXPECT_TRUE(hoist_is_measured(&decisions_, "sort/C", 1));
  // Fewer CPUs than any row is for, and what the file does not speak of: the compiled-in rows.
  EXPECT_FALSE(hoist_is_measured(&decisions_, "hash/b2sum", 2));
  EXPECT_EQ(decide("hash/b2sum", 2, 1), HOIST_CHOICE_ORIGINAL);
  EXPECT_EQ(decide("hash/b2sum", 4, 0), HOIST_CHOICE_CPU_ALL);
  EXPECT_EQ(hoist_break_even(&decisions_, "hash/sha256sum", 4), 1u << 20);
}

TEST_F(Decisions, ATextOfAnotherFormIsIgnoredAsAWhole) {
  const std::string good = "sort/C cpus=1 0 original 10 cpu-1\n";
  ASSERT_TRUE(parse(kHead));
  ASSERT_TRUE(parse(kHead + good));
  for (const std::string& bad : {
           std::string(),
           std::string("hoist-decisions 2 5f0c9d3a77e1b204\n"),
           std::string("hoist-decisions 1 5f0c9d3a77e1b205\n"),
           std::string("hoist-decisions 1 5F0C9D3A77E1B204\n"),
           kHead.substr(0, kHead.size() - 1),
           kHead + "\n",
           kHead + good.substr(0, good.size() - 1),
           kHead + good + std::string(1, '\0') + good,
           kHead + good + "sort/C\n",
           kHead + good + "sort/C cpus=2\n",
           kHead + good + "sort/C cpus=0 0 original\n",
           kHead + good + "sort/C cpus=-2 0 original\n",
           kHead + good + "sort/C cpus=2 1 original\n",
           kHead + good + "sort/C cpus=2 0 unknown\n",
           kHead + good + "sort/C cpus=2 0 original 5\n",
           kHead + good + "sort/C cpus=2 0 original 5 cpu-1 5 cpu-all\n",
           kHead + good + "sort/C cpus=2 0 original 5 cpu-1 4 cpu-all\n",
           kHead + good + "sort/C cpus=2 0 original  5 cpu-1\n",
           kHead + good + "sort/C cpus=2 0 original 18446744073709551616 cpu-1\n",
           kHead + good + "sort/C cpus=2 0 original ",
           kHead + std::string(HOIST_DECISIONS_LIMIT, 'x'),
       }) {
    EXPECT_FALSE(parse(bad)) << bad;
    EXPECT_EQ(hoist_break_even(&decisions_, "sort/C", 1), 512u << 10) << bad;
  }
}

TEST_F(Decisions, WhatIsWrittenIsReadAgain) {
  const hoist_interval intervals[] = {
      {0, HOIST_CHOICE_ORIGINAL}, {7, HOIST_CHOICE_CPU_1}, {UINT64_MAX, HOIST_CHOICE_CPU_ALL}};
  char text[256];
  size_t size = hoist_format_decisions_head(text, sizeof text, kKey);
  ASSERT_GT(size, 0u);
  const size_t more =
      hoist_format_decisions_row(text + size, sizeof text - size, "a/b", 3, intervals, 3);
  ASSERT_GT(more, 0u);
  ASSERT_TRUE(parse(std::string(text, size + more)));
  hoist_interval row[HOIST_MOST_INTERVALS];
  ASSERT_EQ(hoist_find_row(&decisions_, "a/b", 3, row), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(row[i].from, intervals[i].from);
    EXPECT_EQ(row[i].choice, intervals[i].choice);
  }
  for (size_t room = 0; room <= more; ++room) {
    EXPECT_EQ(hoist_format_decisions_row(text, room, "a/b", 3, intervals, 3), 0u) << room;
  }
  EXPECT_EQ(hoist_format_decisions_row(text, more + 1, "a/b", 3, intervals, 3), more);
  EXPECT_EQ(hoist_format_decisions_head(text, 5, kKey), 0u);
}

class DecisionsFile : public Decisions {
 protected:
  DecisionsFile() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-decisions-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    ::setenv("XDG_CACHE_HOME", path_.c_str(), 1);
    ::unsetenv("HOIST_PROFILE");
    std::filesystem::create_directory(path_ + "/hoist");
  }
  ~DecisionsFile() override { std::filesystem::remove_all(path_); }

  std::string text() const {
    char head[64];
    const size_t size = hoist_format_decisions_head(head, sizeof head, hoist_machine_key());
    return std::string(head, size) + "sort/C cpus=1 0 cpu-1\n";
  }
  bool loads() { return hoist_load_decisions(&decisions_); }

  std::string path_;
};

TEST_F(DecisionsFile, CountsWhereNobodyElseCanHaveWrittenIt) {
  const std::string file = path_ + "/hoist/decisions";
  EXPECT_FALSE(loads());
  std::ofstream(file) << text();
  ::chmod(file.c_str(), 0600);
  EXPECT_TRUE(loads());
  EXPECT_EQ(decide("sort/C", 4, 0), HOIST_CHOICE_CPU_1);
  ::chmod(file.c_str(), 0602);
  EXPECT_FALSE(loads());
  EXPECT_EQ(decide("sort/C", 4, 0), HOIST_CHOICE_ORIGINAL);
  ::chmod(file.c_str(), 0620);
  EXPECT_FALSE(loads());
  ::chmod(file.c_str(), 0600);
  if (::chown(file.c_str(), 12345, 12345) == 0) {
    EXPECT_FALSE(loads());
    ASSERT_EQ(::chown(file.c_str(), ::geteuid(), ::getegid()), 0);
  }
  std::filesystem::rename(file, file + "-elsewhere");
  std::filesystem::create_symlink(file + "-elsewhere", file);
  EXPECT_FALSE(loads());
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(loads());
}

TEST_F(DecisionsFile, HoistProfileSaysAnotherPlace) {
  const std::string profile = path_ + "/mine.json";
  ::setenv("HOIST_PROFILE", profile.c_str(), 1);
  EXPECT_FALSE(loads());
  std::ofstream(profile + ".decisions") << text();
  ::chmod((profile + ".decisions").c_str(), 0600);
  EXPECT_TRUE(loads());
  char tiny[8];
  EXPECT_FALSE(hoist_decisions_path(tiny, sizeof tiny));
  ::unsetenv("HOIST_PROFILE");
}

TEST_F(DecisionsFile, ABigOrForeignTextDoesNotCount) {
  const std::string file = path_ + "/hoist/decisions";
  std::ofstream(file) << text() << std::string(HOIST_DECISIONS_LIMIT, '\n');
  ::chmod(file.c_str(), 0600);
  EXPECT_FALSE(loads());
  std::ofstream(file) << kHead;  // of another machine
  EXPECT_FALSE(loads());
  EXPECT_NE(hoist_machine_key(), 0u);
  EXPECT_EQ(hoist_machine_key(), hoist_machine_key());
}

}  // namespace
