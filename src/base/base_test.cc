#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "base/bytes_text.h"
#include "base/checksum.h"
#include "base/counters.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/log.h"
#include "base/option_values.h"
#include "base/options.h"
#include "base/spin_lock.h"

namespace hoist {
namespace {

struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-base-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

TEST(File, AtomicWriteReplacesAndLeavesNothingBehind) {
  const Scratch scratch;
  const std::string path = scratch.file("profile");
  ASSERT_TRUE(write_file_atomically(path, "old"));
  ASSERT_TRUE(write_file_atomically(path, "new content"));
  EXPECT_EQ(read_file(path, 100).value(), "new content");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path), {}), 1);
  EXPECT_FALSE(write_file_atomically(scratch.file("missing/profile"), "x"));
}

TEST(File, OneFileUnderTwoNamesIsKnown) {
  const Scratch scratch;
  const std::string file = scratch.file("file");
  ASSERT_TRUE(write_file_atomically(file, "x"));
  EXPECT_TRUE(check_other_file(file, scratch.file("none")));
  EXPECT_TRUE(check_other_file(scratch.file("none"), scratch.file("none")));
  ASSERT_TRUE(write_file_atomically(scratch.file("other"), "x"));
  EXPECT_TRUE(check_other_file(file, scratch.file("other")));
  ASSERT_EQ(::link(file.c_str(), scratch.file("hard").c_str()), 0);
  ASSERT_EQ(::symlink("file", scratch.file("soft").c_str()), 0);
  for (const char* name : {"file", "hard", "soft"}) {
    const Status same = check_other_file(file, scratch.file(name));
    ASSERT_FALSE(same) << name;
    EXPECT_EQ(same.error().code, ErrorCode::invalid_argument);
  }
}

TEST(File, ReadStopsAtTheLimit) {
  const Scratch scratch;
  const std::string path = scratch.file("big");
  ASSERT_TRUE(write_file_atomically(path, std::string(200000, 'x')));
  EXPECT_EQ(read_file(path, 200000).value().size(), 200000u);
  EXPECT_EQ(read_file(path, 199999).error().code, ErrorCode::exhausted);
  EXPECT_EQ(read_file(scratch.file("none"), 1).error().code, ErrorCode::not_found);
}

TEST(File, FullDeviceIsAnError) {
  Result<UniqueFd> full = open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const Status status = write_full(full->get(), "x", 1, "/dev/full");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().system_errno, ENOSPC);
}

TEST(Options, OffSwitch) {
  for (const char* word : {"off", "OFF", "0", "no", "false"}) {
    ::setenv("HOIST", word, 1);
    EXPECT_TRUE(hoist_is_off()) << word;
  }
  ::setenv("HOIST", "on", 1);
  EXPECT_FALSE(hoist_is_off());
  ::unsetenv("HOIST");
  EXPECT_FALSE(hoist_is_off());
}

TEST(Log, GoesToTheFileAsSingleLines) {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  ::setenv("HOIST_LOG_FILE", path.c_str(), 1);
  ::setenv("HOIST_LOG", "info", 1);
  log(LogLevel::info, "two\nlines {}", 7);
  log(LogLevel::debug, "not shown");
  ::unsetenv("HOIST_LOG");
  ::unsetenv("HOIST_LOG_FILE");
  const std::string text = read_file(path, 1000).value();
  EXPECT_NE(text.find("info: two lines 7\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("not shown"), std::string::npos);
}

TEST(Bytes, ReaderStaysInBounds) {
  ByteWriter writer;
  writer.write<uint32_t>(0x04030201);
  writer.write<uint16_t>(7);
  ByteReader reader(writer.bytes().data(), writer.bytes().size());
  EXPECT_EQ(reader.read<uint32_t>(), 0x04030201u);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.read<uint64_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.take(0).empty());
}

TEST(Checksum, PublishedVectors) {
  // xxHash's own sanity check: XXH3-64 of the empty input, seed 0.
  EXPECT_EQ(xxh3_64("", 0), 0x2D06800538D394C2u);
}

TEST(Counters, CountAcrossProcesses) {
  const Scratch scratch;
  const std::string path = scratch.file("counters");
  auto created = Counters::create(path, ::getpid());
  ASSERT_TRUE(created) << created.error().message;
  Counters& counters = **created;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto shared = Counters::open(path);
      if (!shared) ::_exit(1);
      for (int k = 0; k < 1000; ++k) (*shared)->add_call("sort", k % 2 ? "cpu-1" : "cpu-all", 2, 3);
      (*shared)->add_passed("hash", "small input");
      (*shared)->add_program(::getpid(), {"sort", "a\"b", "\xff"}, true, "build known");
      ::_exit(0);
    }
  }
  int status = 0;
  while (::wait(&status) > 0) EXPECT_EQ(status, 0);
  const hoist_operation_slot& sort = counters.layout()->operations[0];
  ASSERT_EQ(counters.layout()->operation_count, 2u);
  EXPECT_EQ(sort.calls + counters.layout()->operations[1].calls, 4000u);
  const std::string json = counters.to_json();
  EXPECT_NE(json.find("\"passed\":{\"small input\":4}"), std::string::npos) << json;
  EXPECT_NE(json.find("\"argv\":[\"sort\",\"a\\\"b\",\"\\u00ff\"],\"taken_over\":true"),
            std::string::npos)
      << json;
}

TEST(Counters, ArgumentsMayBeEmptyOrText) {
  const Scratch scratch;
  auto created = Counters::create(scratch.file("counters"), ::getpid());
  ASSERT_TRUE(created);
  (*created)->add_program(1, {"grep", "", "größe €", "\xc3(\xed\xa0\x80", ""}, false, "x");
  EXPECT_NE((*created)->to_json().find(
                "\"argv\":[\"grep\",\"\",\"größe €\",\"\\u00c3(\\u00ed\\u00a0\\u0080\",\"\"]"),
            std::string::npos)
      << (*created)->to_json();
}

TEST(Counters, WhatFoundNoSlotIsCounted) {
  const Scratch scratch;
  auto created = Counters::create(scratch.file("counters"), ::getpid());
  ASSERT_TRUE(created);
  EXPECT_EQ((*created)->to_json().find("not_recorded"), std::string::npos);
  const_cast<hoist_counters*>((*created)->layout())->program_count = HOIST_MAX_PROGRAMS - 1;
  for (int i = 0; i < 4; ++i) (*created)->add_program(1, {"x"}, false, "y");
  EXPECT_EQ((*created)->not_recorded(), 3u);
  EXPECT_NE((*created)->to_json().find("\"not_recorded\":3}"), std::string::npos);
}

TEST(Counters, ProgressIsPartOfItsCall) {
  const Scratch scratch;
  auto created = Counters::create(scratch.file("counters"), ::getpid());
  ASSERT_TRUE(created);
  (*created)->add_progress("sort", "cpu-all", 30);
  const hoist_operation_slot& sort = (*created)->layout()->operations[0];
  EXPECT_EQ(sort.bytes, 30u);  // seen while the call runs
  EXPECT_EQ(sort.calls, 0u);
  (*created)->add_progress("sort", "cpu-all", 40);
  (*created)->add_call("sort", "cpu-all", 5, 9);
  EXPECT_EQ(sort.bytes, 75u);
  EXPECT_EQ(sort.implementations[0].bytes, 75u);
  EXPECT_EQ(sort.implementations[0].calls, 1u);
  EXPECT_EQ((*created)->layout()->operation_count, 1u);
}

TEST(Counters, NoPageIsLeftToBeFoundLater) {
  const Scratch scratch;
  const std::string path = scratch.file("counters");
  auto created = Counters::create(path, ::getpid());
  ASSERT_TRUE(created) << created.error().message;
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, info.st_size);
  // One whose pages may be missing, touching which would raise SIGBUS.
  ASSERT_TRUE(Counters::open(path));
  const Result<UniqueFd> file = open_file(path, O_RDWR);
  ASSERT_TRUE(file);
  constexpr off_t kHole = 64 << 10;
  ASSERT_EQ(::fallocate(file->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kHole, kHole), 0);
  EXPECT_FALSE(Counters::open(path));
}

TEST(Counters, LimitOnFilesIsAnError) {
  const Scratch scratch;
  const std::string path = scratch.file("counters");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto limit = [](rlim_t size) {
      const struct rlimit value = {size, size};
      ::setrlimit(RLIMIT_FSIZE, &value);
    };
    limit(hoist_counters_size(8));
    auto some = Counters::create(path, 1);
    if (!some || (*some)->program_slots() != 8) ::_exit(1);
    ::unlink(path.c_str());
    limit(hoist_counters_size(8) - 1);
    if (Counters::create(path, 1) || std::filesystem::exists(path)) ::_exit(2);
    ::unsetenv(HOIST_COUNTERS_ENV);
    Counters::process().add_call("sort", "cpu-1", 1, 1);  // counts nowhere, and raises nothing
    const std::string text(hoist_counters_size(8), 'x');
    ::_exit(write_file_atomically(path, text) ? 3 : 0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Counters, SegmentsInUseAreMarked) {
  const Scratch scratch;
  const std::string folder = std::filesystem::path(scratch.file("x")).parent_path();
  auto first = Counters::create_in(folder, 7);
  auto second = Counters::create_in(folder, 7);  // a pid of another namespace
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE((*first)->path(), (*second)->path());
  const std::string path = (*first)->path();
  const auto is_free = [&] {
    const Result<UniqueFd> file = open_file(path, O_RDONLY);
    return file && ::flock(file->get(), LOCK_EX | LOCK_NB) == 0;
  };
  EXPECT_FALSE(is_free());
  auto writer = Counters::open(path, true);
  auto reader = Counters::open(path);
  first->reset();
  EXPECT_FALSE(is_free());
  writer->reset();
  EXPECT_TRUE(is_free());
}

TEST(Counters, ClosedStreamsStayClosed) {
  const Scratch scratch;
  const std::string path = scratch.file("counters");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDOUT_FILENO);
    auto created = Counters::create(path, ::getpid());
    auto opened = Counters::open(path, true);
    ::_exit(created && opened && ::fcntl(STDOUT_FILENO, F_GETFD) < 0 ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SpinLock, IsTakenFromTheDeadOnly) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  auto lock = static_cast<uint32_t>(child);
  {
    const SpinLock guard(lock);
    EXPECT_TRUE(guard.held());
    EXPECT_EQ(lock, static_cast<uint32_t>(::getpid()));
    const SpinLock second(lock);  // its holder lives
    EXPECT_FALSE(second.held());
  }
  EXPECT_EQ(lock, 0u);
}

TEST(Counters, ForeignFilesAreRefused) {
  const Scratch scratch;
  const std::string path = scratch.file("other");
  ASSERT_TRUE(write_file_atomically(path, "not counters"));
  EXPECT_FALSE(Counters::open(path));
  ASSERT_TRUE(write_file_atomically(path, std::string(sizeof(hoist_counters), '\0')));
  EXPECT_FALSE(Counters::open(path));
}

TEST(Counters, HostileCountsStayInBounds) {
  const Scratch scratch;
  const std::string path = scratch.file("counters");
  auto created = Counters::create(path, 1);
  ASSERT_TRUE(created);
  auto* raw = const_cast<hoist_counters*>((*created)->layout());
  raw->program_count = 0xffffffff;
  raw->operation_count = 0xffffffff;
  std::memset(raw->operations, 'A', sizeof raw->operations);
  std::memset(raw->programs, 'B', sizeof raw->programs);
  EXPECT_GT((*created)->to_json().size(), 0u);
  (*created)->add_call("sort", "cpu-1", 1, 1);
  (*created)->add_passed("sort", "x");
  (*created)->add_program(1, {"x"}, false, "y");
}

TEST(BytesText, KeepsToWholeUnits) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(10 * 1024 - 1), "10239 bytes");
  EXPECT_EQ(bytes_text(10 * 1024), "10 KiB");
  EXPECT_EQ(bytes_text(10 * 1024 + 1), "11 KiB");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(4 << 20), "4 MiB");
  EXPECT_EQ(bytes_text((4 << 20) + 1), "4097 KiB");
  EXPECT_EQ(bytes_text(10 << 20), "10 MiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "17592186044416 MiB");
}

TEST(CpuFeatures, ALimitTakesAwayWhatIsWider) {
  CpuFeatures all;
  all.aes = all.bmi2 = all.avx2 = all.avx512 = all.avx512_vbmi = all.avx512_vpclmul = true;
  EXPECT_TRUE(limited(all, Isa::avx512).avx512_vpclmul);
  const CpuFeatures narrow = limited(all, Isa::avx2);
  EXPECT_TRUE(narrow.avx2 && narrow.aes && narrow.bmi2);
  EXPECT_FALSE(narrow.avx512 || narrow.avx512_vbmi || narrow.avx512_vpclmul);
  const CpuFeatures none = limited(all, Isa::scalar);
  EXPECT_FALSE(none.avx2 || none.aes || none.bmi2 || none.avx512);
  ::setenv("HOIST_ISA", "Scalar", 1);
  EXPECT_EQ(most_isa(), Isa::scalar);
  ::setenv("HOIST_ISA", "sse9", 1);
  EXPECT_EQ(most_isa(), Isa::avx512);
  EXPECT_EQ(unusable_option_values().size(), 1u);
  ::unsetenv("HOIST_ISA");
}

TEST(GpuUse, IsReadInAnyCase) {
  for (const auto& [text, use] :
       {std::pair("OFF", HOIST_GPU_OFF), std::pair("Require", HOIST_GPU_REQUIRE),
        std::pair("inprocess", HOIST_GPU_INPROCESS), std::pair("cuda", HOIST_GPU_AUTO),
        std::pair("", HOIST_GPU_AUTO)}) {
    ::setenv("HOIST_GPU", text, 1);
    EXPECT_EQ(gpu_use(), use) << text;
  }
  ::unsetenv("HOIST_GPU");
  EXPECT_EQ(gpu_use(), HOIST_GPU_AUTO);
}

}  // namespace
}  // namespace hoist
