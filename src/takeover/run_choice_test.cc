#include "takeover/run_choice.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/threads.h"
#include "takeover/decisions.h"

namespace hoist {
namespace {

class RunChoiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/hoist-run-choice-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    directory_ = pattern;
    ::setenv("HOIST_PROFILE", path("profile").c_str(), 1);
    ::setenv("HOIST_THREADS", "1000", 1);  // whatever else runs
    taken_over_.recognised = true;
    taken_over_.original_path = "/usr/bin/sort";
  }
  void TearDown() override {
    ::unsetenv("HOIST_PROFILE");
    ::unsetenv("HOIST_THREADS");
    std::filesystem::remove_all(directory_);
  }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string file(const std::string& name, size_t size) const {
    std::ofstream(path(name)) << std::string(size, 'x');
    return path(name);
  }
  void decide(const std::string& row) const {
    char head[64];
    ASSERT_GT(hoist_format_decisions_head(head, sizeof head, hoist_machine_key()), 0u);
    const std::string name = path("profile.decisions");
    std::ofstream(name) << head << row << '\n';
    ::chmod(name.c_str(), 0600);
  }

  std::string directory_;
  Takeover taken_over_;
};

TEST_F(RunChoiceTest, FollowsTheDecisions) {
  decide("sort/C cpus=1 0 original 1000 cpu-1 2000 original 3000 cpu-all");
  const RunChoice small = choose_run(taken_over_, "sort/C", 999);
  EXPECT_TRUE(small.original);
  EXPECT_EQ(small.reason, "placement: the original is faster below 1000 bytes");
  const RunChoice single = choose_run(taken_over_, "sort/C", 1000);
  EXPECT_FALSE(single.original);
  EXPECT_EQ(single.threads, 1);
  EXPECT_EQ(single.reason, "placement: cpu-1 for 1000 bytes");
  EXPECT_EQ(choose_run(taken_over_, "sort/C", 2500).reason,
            "placement: the original is faster below 3000 bytes");
  const RunChoice all = choose_run(taken_over_, "sort/C", 3000);
  EXPECT_EQ(all.threads, usable_cpus());
  EXPECT_FALSE(all.original);

  decide("sort/C cpus=1 0 original");
  EXPECT_EQ(choose_run(taken_over_, "sort/C", 1u << 30).reason,
            "placement: the original is faster");
}

TEST_F(RunChoiceTest, AGpuTakesAllCpusForTheRest) {
  decide("sort/C cpus=1 0 cpu-1 1000 cuda");
  EXPECT_FALSE(choose_run(taken_over_, "sort/C", 999).on_gpu);
  const RunChoice large = choose_run(taken_over_, "sort/C", 1000);
  EXPECT_TRUE(large.on_gpu);
  EXPECT_EQ(large.threads, usable_cpus());
  EXPECT_EQ(large.reason, "placement: cuda for 1000 bytes");
}

TEST_F(RunChoiceTest, AHoistdIsLookedForWhereItMatters) {
  decide(
      "sort/C cpus=1 0 cpu-1 5000 cuda\n"
      "sort/C+hoistd cpus=1 0 cpu-1 1000 hoistd");
  bool is_there = false;
  int asked = 0;
  const auto choose = [&](uint64_t bytes) {
    return choose_run(taken_over_, "sort/C", bytes, [&] {
      ++asked;
      return is_there;
    });
  };
  EXPECT_FALSE(choose(999).on_gpu);
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(choose(5000).opens_gpu);
  EXPECT_EQ(choose(5000).reason, "placement: cuda for 5000 bytes");
  EXPECT_FALSE(choose(1000).on_gpu);
  EXPECT_EQ(choose(1000).threads, 1);
  asked = 0;
  is_there = true;
  const RunChoice lent = choose(4999);
  EXPECT_TRUE(lent.on_gpu);
  EXPECT_FALSE(lent.opens_gpu);
  EXPECT_EQ(lent.threads, usable_cpus());
  EXPECT_EQ(lent.reason, "placement: hoistd for 4999 bytes");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(choose(5000).reason, "placement: hoistd for 5000 bytes");
  EXPECT_TRUE(choose(5000).on_gpu);
  EXPECT_TRUE(choose(5000).opens_gpu);
  EXPECT_FALSE(choose_run(taken_over_, "sort/C", 4999).on_gpu);  // who cannot use one
}

TEST_F(RunChoiceTest, OneCpuIsNeverAll) {
  decide("sort/C cpus=1 0 cpu-all");
  ::setenv("HOIST_THREADS", "1", 1);
  const RunChoice choice = choose_run(taken_over_, "sort/C", 5000);
  EXPECT_EQ(choice.threads, 1);
  EXPECT_EQ(choice.reason, "placement: cpu-1 for 5000 bytes");
}

TEST_F(RunChoiceTest, UnknownSizesGetAllCpus) {
  decide("sort/C cpus=1 0 original");
  const RunChoice choice = choose_run(taken_over_, "sort/C", {});
  EXPECT_FALSE(choice.original);
  EXPECT_EQ(choice.threads, usable_cpus());
}

TEST_F(RunChoiceTest, TheEngineRunsWhereItWasAskedForOrIsAlone) {
  decide("sort/C cpus=1 0 original");
  Takeover asked = taken_over_;
  asked.recognised = false;
  EXPECT_FALSE(choose_run(asked, "sort/C", 10).original);
  EXPECT_EQ(choose_run(asked, "sort/C", 10).reason, "asked for by name");
  Takeover alone = taken_over_;
  alone.original_path.clear();
  EXPECT_FALSE(choose_run(alone, "sort/C", 10).original);
}

TEST_F(RunChoiceTest, SizesOfRegularFilesAdd) {
  const std::string a = file("a", 3);
  const std::string b = file("b", 4000);
  EXPECT_EQ(input_size(std::vector<std::string>{}), 0u);
  EXPECT_EQ(input_size(std::vector{a, b, a}), 4006u);
  EXPECT_EQ(input_size(std::vector{a, path("missing")}), std::nullopt);
  EXPECT_EQ(input_size(std::vector{a, directory_}), std::nullopt);
  EXPECT_EQ(input_size(std::vector<std::string>(513, a)), std::nullopt);
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(input_size(std::vector{path("fifo")}), std::nullopt);
}

TEST_F(RunChoiceTest, StandardInputCountsFromWhereItStands) {
  const int before = ::dup(STDIN_FILENO);
  ASSERT_NE(::freopen(file("input", 100).c_str(), "r", stdin), nullptr);
  ASSERT_EQ(::lseek(STDIN_FILENO, 30, SEEK_SET), 30);
  EXPECT_EQ(input_size(std::vector<std::string>{"-"}), 70u);
  ::lseek(STDIN_FILENO, 200, SEEK_SET);
  EXPECT_EQ(input_size(std::vector<std::string>{"-"}), 0u);
  ::dup2(before, STDIN_FILENO);
  ::close(before);
}

}  // namespace
}  // namespace hoist
