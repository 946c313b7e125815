// The order of results, whatever the sizes of the files and the number of threads.
#include "ops/hash/file_jobs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "ops/hash/line_reader.h"
#include "ops/hash/read_ahead.h"

namespace hoist::hash {
namespace {

class FileJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/hoist-file-jobs-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }

  std::string directory_;
};

TEST_F(FileJobs, EmitsInOrder) {
  // More jobs than the look-ahead window holds, over a few files, and a large one that all wait
  // for.
  std::vector<uint64_t> sizes;
  std::mt19937 random(11);
  for (int i = 0; i < 30; ++i) {
    sizes.push_back(i == 29 ? 3 << 20 : random() % 2000);
    write(std::to_string(i), std::string(sizes.back(), static_cast<char>('a' + i)));
  }
  std::vector<std::string> names;
  uint64_t bytes = 0;
  for (int i = 0; i < 1500; ++i) {
    const size_t file = i == 200 ? 29 : random() % 29;
    names.push_back(path(std::to_string(file)));
    bytes += sizes[file];
  }
  size_t taken = 0;
  std::vector<FileJob> emitted;
  size_t flushes = 0;
  JobStream stream;
  stream.count = names.size();
  stream.next = [&](FileJob& job) {
    if (taken == names.size()) return false;
    job.name = names[taken++];
    job.kind = {Algorithm::sha256, 32};
    job.malformed = taken % 50 == 0;
    return true;
  };
  stream.emit = [&](FileJob& job) { emitted.push_back(job); };
  stream.flush = [&] { ++flushes; };
  const JobTotals totals = run_in_order(stream, 4);

  ASSERT_EQ(emitted.size(), names.size());
  EXPECT_GT(flushes, 0u);
  uint64_t hashed = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(emitted[i].name, names[i]);
    hashed += emitted[i].result.bytes;
    if (emitted[i].malformed) continue;
    const FileDigest alone = hash_file(names[i], {Algorithm::sha256, 32}, 0, Company::none);
    ASSERT_EQ(emitted[i].result.digest.hex(), alone.digest.hex());
  }
  EXPECT_EQ(totals.bytes, hashed);
  EXPECT_LT(hashed, bytes);
}

// Sizes around what ends a batch, missing files and FIFOs, whose writers change a file that comes
// later: every result is what reading one file after the other gives.
TEST_F(FileJobs, GivesWhatOneAfterTheOtherGives) {
  constexpr size_t kSizes[] = {0, 1, 100, 4096, (512 << 10) - 1, 512 << 10, 600 << 10};
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    write(std::to_string(i), std::string(kSizes[i], static_cast<char>('a' + i)));
  }
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  const uint32_t seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 8; ++round) {
    std::vector<std::string> names;
    const size_t count = 33 + random() % 300;
    for (size_t i = 0; i < count; ++i) {
      const size_t kind = random() % 40;
      names.push_back(path(kind < 30   ? std::to_string(random() % 4)
                           : kind < 38 ? std::to_string(random() % std::size(kSizes))
                                       : "missing"));
    }
    const size_t turn = random() % count;
    names.insert(names.begin() + static_cast<ptrdiff_t>(turn), path("fifo"));
    names.push_back(path("changed"));
    write("changed", "before");
    std::thread writer([&] {
      std::ofstream fifo(path("fifo"), std::ios::binary);
      fifo << "first" << std::flush;
      write("changed", "after");
      fifo << "second";
    });
    std::vector<FileJob> emitted;
    size_t taken = 0;
    JobStream stream;
    if (random() % 2 == 0) stream.count = names.size();
    stream.next = [&](FileJob& job) {
      if (taken == names.size()) return false;
      job.name = names[taken++];
      job.kind = {Algorithm::md5, 16};
      return true;
    };
    stream.emit = [&](FileJob& job) { emitted.push_back(job); };
    stream.flush = [] {};
    run_in_order(stream, 4);
    writer.join();

    ASSERT_EQ(emitted.size(), names.size());
    write("whole", "firstsecond");
    for (size_t i = 0; i < names.size(); ++i) {
      ASSERT_EQ(emitted[i].name, names[i]);
      const FileDigest expected =
          hash_file(i == turn ? path("whole") : names[i], emitted[i].kind, 0, Company::none);
      EXPECT_EQ(emitted[i].result.open_error, expected.open_error);
      if (expected.open_error != 0) continue;
      EXPECT_EQ(emitted[i].result.digest.hex(), expected.digest.hex()) << names[i];
    }
  }
}

TEST_F(FileJobs, ReportsErrors) {
  const FileDigest missing = hash_file(path("missing"), {Algorithm::md5, 16}, 0, Company::reader);
  EXPECT_EQ(missing.open_error, ENOENT);
  const FileDigest directory = hash_file(directory_, {Algorithm::md5, 16}, 0, Company::reader);
  EXPECT_EQ(directory.open_error, 0);
  EXPECT_EQ(directory.read_error, EISDIR);
}

TEST_F(FileJobs, GlancesWithoutOpening) {
  write("regular", "12345");
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_TRUE(glance_at(path("regular")).independent);
  EXPECT_EQ(glance_at(path("regular")).bytes, 5u);
  EXPECT_TRUE(glance_at(path("missing")).independent);
  EXPECT_TRUE(glance_at(directory_).independent);
  EXPECT_FALSE(glance_at(path("fifo")).independent);
  EXPECT_FALSE(glance_at("/dev/null").independent);
  EXPECT_FALSE(glance_at("-").independent);
}

TEST_F(FileJobs, OverlappedReadingGivesTheSameDigest) {
  std::string content(9 << 20, '\0');
  std::mt19937 random(5);
  for (char& c : content) c = static_cast<char>(random());
  write("large", content);
  const DigestKind kind{Algorithm::sha256, 32};
  const FileDigest overlapped = hash_file(path("large"), kind, 0, Company::reader);
  EXPECT_EQ(overlapped.bytes, content.size());
  EXPECT_EQ(overlapped.digest.hex(), hash_file(path("large"), kind, 0, Company::none).digest.hex());
}

TEST_F(FileJobs, ReadAheadMayBeLeftEarly) {
  write("large", std::string(4 << 20, 'x'));
  FILE* file = fopen(path("large").c_str(), "rb");
  ASSERT_NE(file, nullptr);
  {
    ReadAhead reader(fileno(file));
    EXPECT_GT(reader.next().size, 0u);
  }
  fclose(file);
}

// Others' descriptors lie between ours wherever the generator puts them.
TEST_F(FileJobs, SpentDescriptorsAreClosedAndNoOthers) {
  write("file", "x");
  const auto open_one = [&] { return UniqueFd(::open(path("file").c_str(), O_RDONLY)); };
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  std::mt19937 random(17);
  for (int round = 0; round < 50; ++round) {
    std::vector<UniqueFd> others;
    std::vector<int> ours;
    SpentDescriptors spent;
    const size_t count = random() % 40;
    for (size_t i = 0; i < count; ++i) {
      if (random() % 5 == 0) others.push_back(open_one());
      UniqueFd fd = open_one();
      ours.push_back(fd.get());
      spent.add(std::move(fd));
    }
    spent.close_all();
    EXPECT_TRUE(spent.empty());
    for (const UniqueFd& fd : others) EXPECT_TRUE(is_open(fd.get()));
    for (const int fd : ours) {
      const bool is_taken_again = std::any_of(others.begin(), others.end(),
                                              [&](const UniqueFd& o) { return o.get() == fd; });
      EXPECT_EQ(is_open(fd), is_taken_again);
    }
  }
}

TEST_F(FileJobs, LineReaderFindsAllLines) {
  const std::string long_line(200000, 'l');
  write("lines", "a\n\nb\n" + long_line + "\nlast");
  FILE* file = fopen(path("lines").c_str(), "rb");
  ASSERT_NE(file, nullptr);
  LineReader lines(fileno(file));
  std::string_view line;
  for (const std::string& expected :
       {std::string("a"), std::string(), std::string("b"), long_line, std::string("last")}) {
    ASSERT_TRUE(lines.next(line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(lines.next(line));
  EXPECT_EQ(lines.error(), 0);
  fclose(file);
}

}  // namespace
}  // namespace hoist::hash
