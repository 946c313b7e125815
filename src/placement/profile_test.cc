#include "placement/profile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "placement/choose.h"
#include "placement/decide.h"
#include "placement/placement_testing.h"
#include "placement/profile_file.h"
#include "placement/profile_paths.h"

namespace hoist::placement {
namespace {

Profile sample_profile() {
  Profile profile;
  profile.machine = this_machine();
  profile.measured = "2026-01-02T03:04:05Z";
  MeasuredVariant variant;
  variant.name = "sort/C";
  variant.implementations = {{"original", points_of([](double x) { return 1e-3 + 2e-9 * x; })},
                             {"cpu-1", points_of([](double x) { return 2e-3 + 1e-9 * x; })}};
  variant.rows = {{1, {{0, "original"}, {1000000, "cpu-1"}}}};
  profile.variants = {variant};
  return profile;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

TEST(ProfileJson, SurvivesWritingAndReading) {
  const Profile profile = sample_profile();
  const Result<Profile> read = parse_profile(to_json(profile));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(profile));
  ASSERT_EQ(read->variants.size(), 1u);
  EXPECT_EQ(read->variants[0].rows[0].intervals, profile.variants[0].rows[0].intervals);
  EXPECT_EQ(read->variants[0].implementations[1].points[3].seconds,
            profile.variants[0].implementations[1].points[3].seconds);
  EXPECT_EQ(read->find("sort/C", Residency::device), nullptr);
  EXPECT_EQ(to_json(profile).find("hoistd"), std::string::npos);
}

TEST(ProfileJson, HasWhatWasDecidedWithAHoistd) {
  Profile profile = sample_profile();
  profile.variants[0].rows_with_hoistd = {{1, {{0, "original"}, {500000, "hoistd"}}}};
  std::string text = to_json(profile);
  const Result<Profile> read = parse_profile(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), text);
  EXPECT_EQ(read->variants[0].rows_with_hoistd[0].intervals,
            profile.variants[0].rows_with_hoistd[0].intervals);
  replace(text, "500000", "0");  // no longer ascending
  EXPECT_FALSE(parse_profile(text));
}

TEST(ProfileJson, WhatIsNotWhollyAProfileIsRefused) {
  const std::string good = to_json(sample_profile());
  const std::pair<const char*, const char*> damages[] = {
      {"\"format\": 1", "\"format\": 2"},
      {"\"cpus\": ", "\"cpus\": -"},
      {"\"host\"", "\"nowhere\""},
      {"\"bytes\": 16384", "\"bytes\": 99999999"},  // no longer ascending
      {"\"bytes\": 16384", "\"bytes\": -1"},
      {"\"bytes\": 16384", "\"bytes\": 1e4"},
      {"\"runs\": 5", "\"runs\": 0"},
      {"\"factor\": 1", "\"factor\": 0"},
      {"\"seconds\": ", "\"seconds\": -"},
      {"\"seconds\": ", "\"seconds\": null, \"x\": "},
      {"\"from\": 0", "\"from\": 1"},
      {"\"points\"", "\"dots\""},
      {"\"name\": \"sort/C\"", "\"name\": 5"},
  };
  for (const auto& [from, to] : damages) {
    std::string text = good;
    replace(text, from, to);
    const Result<Profile> read = parse_profile(text);
    ASSERT_FALSE(read) << from << " " << to;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), good.substr(0, good.size() / 2),
        std::string(100000, '['), std::string(kProfileLimit + 1, ' ')}) {
    EXPECT_FALSE(parse_profile(text));
  }
}

TEST(Machine, ProfilesHoldOnTheSameMachineWithAnyNumberOfCpus) {
  const Machine machine = {"cpu", "gpu", "driver", 4, "1"};
  Machine other = machine;
  EXPECT_TRUE(machine.is_served_by(other));
  other.cpus = 8;
  EXPECT_TRUE(machine.is_served_by(other));
  other.cpus = 2;
  EXPECT_TRUE(machine.is_served_by(other));
  for (std::string Machine::*field :
       {&Machine::cpu, &Machine::gpu, &Machine::driver, &Machine::version}) {
    other = machine;
    other.*field = "other";
    EXPECT_FALSE(machine.is_served_by(other));
  }
}

TEST(Machine, IsReadFromTheSystem) {
  const CacheDirectory directory;
  const std::string& root = directory.path();
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  };
  EXPECT_EQ(this_machine(root).cpu, "");
  write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Quick 9000\nmodel name\t: Other\n");
  write("/proc/driver/nvidia/version", "NVRM version: NVIDIA 1.2.3\nGCC version: 12\n");
  write("/proc/driver/nvidia/gpus/0000:01/information", "Model: \t\t H200\nIRQ: 1\n");
  write("/proc/driver/nvidia/gpus/0000:02/information", "Model: \t\t H200\n");
  const Machine machine = this_machine(root);
  EXPECT_EQ(machine.cpu, "Quick 9000");
  EXPECT_EQ(machine.gpu, "H200");
  EXPECT_EQ(machine.driver, "NVIDIA 1.2.3");
  EXPECT_GE(machine.cpus, 1);
}

TEST(ProfileFile, CountsOnlyWhereItIsOursAndFits) {
  const CacheDirectory cache;
  EXPECT_FALSE(load_profile().value);
  EXPECT_NE(load_profile().why.find("no profile"), std::string::npos);
  ASSERT_TRUE(write_profile(sample_profile()));
  struct stat info;
  ASSERT_EQ(::stat((cache.path() + "/hoist").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(load_profile().value) << load_profile().why;
  EXPECT_TRUE(std::filesystem::exists(cache.file("decisions")));

  ::chmod((cache.path() + "/hoist").c_str(), 0777);
  EXPECT_FALSE(load_profile().value);
  ::chmod((cache.path() + "/hoist").c_str(), 0700);
  ::chmod(cache.file("profile.json").c_str(), 0666);
  EXPECT_FALSE(load_profile().value);
  ::chmod(cache.file("profile.json").c_str(), 0600);
  EXPECT_TRUE(load_profile().value);
  if (::chown(cache.file("profile.json").c_str(), 12345, 12345) == 0) {
    EXPECT_FALSE(load_profile().value);
    ASSERT_EQ(::chown(cache.file("profile.json").c_str(), ::geteuid(), ::getegid()), 0);
  }

  Profile narrow = sample_profile();
  ::setenv("HOIST_THREADS", "1", 1);
  narrow.machine = this_machine();
  ::unsetenv("HOIST_THREADS");
  ASSERT_TRUE(write_profile(narrow));
  EXPECT_TRUE(load_profile().value);
  EXPECT_EQ(load_profile().why.find("with 1 of the") != std::string::npos, this_machine().cpus > 1);

  Profile foreign = sample_profile();
  foreign.machine.cpu = "another";
  ASSERT_TRUE(write_profile(foreign));
  EXPECT_FALSE(load_profile().value);
  EXPECT_NE(load_profile().why.find("another machine"), std::string::npos);
  std::ofstream(cache.file("profile.json")) << "{garbage";
  EXPECT_FALSE(load_profile().value);
}

// The process-wide choice: read once, and the same for ever.
TEST(Choose, IsFixedForTheProcess) {
  const CacheDirectory cache;
  ASSERT_TRUE(Registry::process().add(sort_operation()));
  const VariantHandle& sort = *Registry::process().find_variant("sort/C");
  Profile profile = sample_profile();
  profile.variants[0].rows = {{1, {{0, "original"}, {1000, "cpu-1"}}}};
  ASSERT_TRUE(write_profile(profile));
  EXPECT_EQ(choose(sort, {999}).implementation, 0u);
  EXPECT_EQ(choose(sort, {1000}).implementation, 1u);
  EXPECT_EQ(choose(sort, {1000}).basis, Basis::measured);
  EXPECT_TRUE(describe_profile().on);
  profile.variants[0].rows = {{1, {{0, "cpu-1"}}}};
  ASSERT_TRUE(write_profile(profile));
  EXPECT_EQ(choose(sort, {999}).implementation, 0u);
  EXPECT_EQ(&choose(sort, {999}), &choose(sort, {5}));
  // Nothing of this operation runs on data that lies on a device.
  EXPECT_EQ(choose(sort, {5000}, Residency::device).basis, Basis::compiled_in);
}

}  // namespace
}  // namespace hoist::placement
