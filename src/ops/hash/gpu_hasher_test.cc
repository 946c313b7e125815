// Files hashed by a device that lends itself as hoistd does, and by one that fails or lies.
#include "ops/hash/gpu_hasher.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/test_seed.h"
#include "device/cpu_device.h"
#include "ops/hash/file_jobs.h"
#include "ops/hash/gpu/sha256_request.h"
#include "ops/hash/small_files.h"

namespace hoist::hash {
namespace {

constexpr DigestKind kSha256 = {Algorithm::sha256, 32};

// Fails from some request on, or returns digests of which each has a bit wrong.
class LendingDevice : public device::CpuDevice {
 public:
  int requests_until_failure = INT_MAX;
  bool lies = false;
  std::chrono::milliseconds takes{0};
  std::atomic<int> requests = 0;
  std::atomic<uint64_t> messages = 0;

  Status run_served(device::StreamHandle, uint32_t operation, std::initializer_list<Range> memory,
                    std::initializer_list<uint64_t> arguments, std::chrono::nanoseconds) override {
    EXPECT_EQ(operation, uint32_t{HOIST_REQUEST_SHA256});
    if (++requests > requests_until_failure) return fail(ErrorCode::unavailable, "gone (test)");
    std::this_thread::sleep_for(takes);
    const auto* const data = static_cast<const uint8_t*>(memory.begin()[kSha256Data].data);
    const auto* const offsets = static_cast<const uint64_t*>(memory.begin()[kSha256Offsets].data);
    auto* const digests =
        static_cast<uint8_t*>(const_cast<void*>(memory.begin()[kSha256Digests].data));
    for (uint64_t i = 0; i < arguments.begin()[kSha256Messages]; ++i) {
      const uint64_t size = offsets[2 * i + 1] - offsets[2 * i];
      EXPECT_LE(size, arguments.begin()[kSha256Longest]);
      EXPECT_LE(offsets[2 * i + 1], memory.begin()[kSha256Data].size);
      SHA256(data + offsets[2 * i], size, digests + 32 * i);
      if (lies) digests[32 * i + i % 32] ^= 4;
    }
    messages += arguments.begin()[kSha256Messages];
    return {};
  }
};

OpenDevice lend(const std::shared_ptr<LendingDevice>& device) {
  return [device]() -> Result<std::shared_ptr<device::Device>> { return {device}; };
}

void wait_until_open(GpuHasher& gpu) {
  GpuHasher::Room room;
  while (!(room = gpu.reserve(1, 1))) std::this_thread::yield();
  gpu.release(room);
}

class GpuHasherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Where sizes are exact (hash_file.h) also for those whose /tmp is elsewhere.
    char pattern[] = "/dev/shm/hoist-gpu-hasher-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    directory_ = pattern;
    random_.seed(test_seed());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string write(const std::string& name, size_t bytes) {
    std::string content(bytes, '\0');
    for (char& c : content) c = static_cast<char>(random_());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  // Names of files of all kinds, in a random order.
  std::vector<std::string> names(size_t count) {
    std::vector<std::string> files = {path("missing"), directory_};
    for (const size_t size : {0, 1, 4095, 4096, 4097, 5000, 16384, 16385, 65535, 262144, 262145}) {
      files.push_back(write(std::to_string(size), size));
    }
    std::vector<std::string> list;
    for (size_t i = 0; i < count; ++i) list.push_back(files[random_() % files.size()]);
    return list;
  }

  void expect_digests(const std::vector<std::string>& files, int threads, GpuHasher* gpu,
                      DigestKind kind = kSha256) {
    std::vector<FileJob> emitted;
    size_t taken = 0;
    JobStream stream;
    if (random_() % 2 == 0) stream.count = files.size();
    stream.next = [&](FileJob& job) {
      if (taken == files.size()) return false;
      job.name = files[taken++];
      job.kind = kind;
      return true;
    };
    stream.emit = [&](FileJob& job) { emitted.push_back(job); };
    stream.flush = [] {};
    run_in_order(stream, threads, gpu);
    ASSERT_EQ(emitted.size(), files.size());
    for (size_t i = 0; i < files.size(); ++i) {
      ASSERT_EQ(emitted[i].name, files[i]);
      const FileDigest expected = hash_file(files[i], kind, 0, Company::none);
      ASSERT_EQ(emitted[i].result.open_error, expected.open_error);
      ASSERT_EQ(emitted[i].result.read_error, expected.read_error);
      ASSERT_EQ(emitted[i].result.bytes, expected.bytes);
      ASSERT_EQ(emitted[i].result.digest.hex(), expected.digest.hex()) << files[i];
    }
  }

  std::string directory_;
  std::mt19937 random_;
};

TEST_F(GpuHasherTest, GivesWhatOneAfterTheOtherGives) {
  const auto device = std::make_shared<LendingDevice>();
  GpuHasher gpu(lend(device));
  wait_until_open(gpu);
  for (const int threads : {1, 4}) {
    const uint64_t before = device->messages;
    expect_digests(names(1500), threads, &gpu);
    EXPECT_GT(device->messages, before);
  }
  EXPECT_TRUE(gpu.was_used());
  EXPECT_GT(gpu.bytes(), 0u);
}

TEST_F(GpuHasherTest, OtherAlgorithmsStayHere) {
  const auto device = std::make_shared<LendingDevice>();
  GpuHasher gpu(lend(device));
  wait_until_open(gpu);
  expect_digests(names(200), 4, &gpu, {Algorithm::md5, 16});
  EXPECT_EQ(device->requests, 0);
  EXPECT_FALSE(gpu.was_used());
}

// The pipe's writer changes a file that was read early.
TEST_F(GpuHasherTest, FilesBehindAPipeAreReadAfterIt) {
  const auto device = std::make_shared<LendingDevice>();
  GpuHasher gpu(lend(device));
  wait_until_open(gpu);
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  std::vector<std::string> files(300, write("before", 8000));
  files.push_back(path("fifo"));
  files.insert(files.end(), 300, write("changed", 8000));
  std::thread writer([&] {
    std::ofstream fifo(path("fifo"), std::ios::binary);
    fifo << "first" << std::flush;
    write("changed", 9000);
  });
  std::vector<std::string> digests;
  size_t taken = 0;
  JobStream stream;
  stream.next = [&](FileJob& job) {
    if (taken == files.size()) return false;
    job.name = files[taken++];
    job.kind = kSha256;
    return true;
  };
  stream.emit = [&](FileJob& job) { digests.push_back(job.result.digest.hex()); };
  stream.flush = [] {};
  run_in_order(stream, 4, &gpu);
  writer.join();
  ASSERT_EQ(digests.size(), files.size());
  const std::string changed = hash_file(path("changed"), kSha256, 0, Company::none).digest.hex();
  for (size_t i = 301; i < files.size(); ++i) ASSERT_EQ(digests[i], changed) << i;
}

TEST_F(GpuHasherTest, NothingIsLostWithTheDevice) {
  for (const int requests : {0, 1, 2}) {
    const auto device = std::make_shared<LendingDevice>();
    device->requests_until_failure = requests;
    GpuHasher gpu(lend(device));
    wait_until_open(gpu);
    expect_digests(names(3000), 4, &gpu);
    EXPECT_GT(device->requests, requests);
    EXPECT_FALSE(gpu.was_used());
  }
}

TEST_F(GpuHasherTest, WrongDigestsAreFoundOut) {
  const auto device = std::make_shared<LendingDevice>();
  device->lies = true;
  GpuHasher gpu(lend(device));
  wait_until_open(gpu);
  expect_digests(names(1000), 4, &gpu);
  EXPECT_GT(device->requests, 0);
  EXPECT_EQ(gpu.bytes(), 0u);
}

TEST_F(GpuHasherTest, ThreadsDoNotWaitForASlowOne) {
  const auto device = std::make_shared<LendingDevice>();
  device->takes = std::chrono::milliseconds(100);
  GpuHasher gpu(lend(device));
  wait_until_open(gpu);
  const std::vector<std::string> files(4000, write("file", 40'000));
  expect_digests(files, 2, &gpu);
  EXPECT_GT(device->messages, 0u);
  EXPECT_LT(device->messages, files.size());
}

TEST_F(GpuHasherTest, WorksWithoutADevice) {
  GpuHasher gpu([]() -> Result<std::shared_ptr<device::Device>> {
    return fail(ErrorCode::unavailable, "none (test)");
  });
  expect_digests(names(500), 4, &gpu);
  EXPECT_FALSE(gpu.was_used());
}

// Another size than that at the glance is found out.
TEST_F(GpuHasherTest, ReadsAFileOfJustTheSizeExpected) {
  const std::string file = write("file", 10'000);
  const FileDigest alone = hash_file(file, kSha256, 0, Company::none);
  for (const uint64_t expected : {1U, 9'999U, 10'000U, 10'001U, 20'000U}) {
    std::vector<uint8_t> memory(GpuHasher::room_for(expected));
    FileDigest result;
    const bool is_there = read_file(file, kSha256, expected, memory, nullptr, result);
    EXPECT_EQ(is_there, expected == 10'000);
    EXPECT_EQ(result.bytes, alone.bytes);
    if (!is_there) {
      EXPECT_EQ(result.digest.hex(), alone.digest.hex()) << expected;
    }
  }
  std::vector<uint8_t> memory(64);
  FileDigest missing;
  EXPECT_FALSE(read_file(path("missing"), kSha256, 10, memory, nullptr, missing));
  EXPECT_EQ(missing.open_error, ENOENT);
}

TEST_F(GpuHasherTest, SmallFilesAreKnownByASample) {
  Options options;
  options.program = "sha256sum";
  options.algorithm = Algorithm::sha256;
  options.digest_bytes = 32;
  options.files.assign(1000, write("small", 10'000));
  EXPECT_EQ(bytes_of_small_files(options, {}), 10'000'000u);
  EXPECT_EQ(bytes_of_small_files(options, 12'000'000), 12'000'000u);
  EXPECT_FALSE(bytes_of_small_files(options, 1000));           // tiny
  EXPECT_FALSE(bytes_of_small_files(options, 1'000'000'000));  // large
  options.algorithm = Algorithm::md5;
  EXPECT_FALSE(bytes_of_small_files(options, {}));
  options.algorithm = Algorithm::sha256;
  options.files.resize(5);
  EXPECT_FALSE(bytes_of_small_files(options, {}));

  std::string list;
  for (int i = 0; i < 1000; ++i) list += std::string(64, 'a') + "  " + path("small") + "\n";
  std::ofstream(path("list")) << list;
  options.check = true;
  options.files = {path("list")};
  EXPECT_EQ(bytes_of_small_files(options, {}), 10'000'000u);
  options.files.push_back(path("list"));
  EXPECT_FALSE(bytes_of_small_files(options, {}));
  for (const char* other : {"-", "/dev/null", "/nonexistent"}) {
    options.files = {other};
    EXPECT_FALSE(bytes_of_small_files(options, {}));
  }
  std::ofstream(path("no list")) << std::string(100'000, '\n');
  options.files = {path("no list")};
  EXPECT_FALSE(bytes_of_small_files(options, {}));
}

}  // namespace
}  // namespace hoist::hash
