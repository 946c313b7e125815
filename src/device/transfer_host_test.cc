// Transfers whose host end is a file, a socket or a pipe.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/file.h"
#include "device/test_devices.h"
#include "device/transfer.h"

namespace hoist::device {
namespace {

constexpr size_t kChunk = 64 << 10;
constexpr TransferTuning kTuning = {
    .threads = 3, .largest_chunk = kChunk, .ring = 6 * kChunk, .direct = 0};

// On the file system of the build, not in memory: some of these read past the page cache.
UniqueFd temporary_file() {
  Result<UniqueFd> file = open_file(".", O_TMPFILE | O_RDWR, 0600);
  if (file) return std::move(*file);
  return UniqueFd(::memfd_create("file", MFD_CLOEXEC));
}

class TransferHostTest : public OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (IsSkipped()) return;
    transfer_ = std::make_unique<Transfer>(*pool_, kTuning);
  }

  Buffer buffer(size_t size) {
    Result<Buffer> allocated = Buffer::allocate(device(), size);
    EXPECT_TRUE(allocated && allocated->fill(std::byte{0xa5}));
    return std::move(*allocated);
  }
  Buffer filled(std::span<const std::byte> bytes) {
    return std::move(*Buffer::copy_of(device(), bytes));
  }
  static std::vector<std::byte> content_of(const Buffer& buffer) {
    std::vector<std::byte> bytes(buffer.size());
    EXPECT_TRUE(buffer.download(bytes));
    return bytes;
  }
  Transfer& transfer() { return *transfer_; }

 private:
  std::unique_ptr<Transfer> transfer_;
};
INSTANTIATE_TEST_SUITE_P(On, TransferHostTest, kTestDevices, device_name);

TEST_P(TransferHostTest, FilesThereAndBack) {
  for (const size_t size : {size_t{1}, kChunk - 1, 20 * kChunk + 77}) {
    for (const uint64_t offset : {0, 1, 4096, 5000}) {
      const std::vector<std::byte> sent = random_bytes(size);
      const UniqueFd file = temporary_file();
      const Buffer from = filled(sent);
      ASSERT_TRUE(transfer().download(from.view(), HostFile{file.get(), offset}));
      std::vector<std::byte> written(size + 1);
      ASSERT_EQ(pread_full(file.get(), written.data(), size + 1, offset).value_or(0), size);
      written.pop_back();
      EXPECT_EQ(written, sent);
      const Buffer to = buffer(size);
      const Status up = transfer().upload(HostFile{file.get(), offset}, to.view());
      ASSERT_TRUE(up) << up.error().message;
      EXPECT_EQ(content_of(to), sent);
      EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 0);
    }
  }
}

TEST_P(TransferHostTest, FilesThatAreNotCached) {
  const size_t size = (size_t{17} << 20) + 123;
  std::vector<std::byte> sent = random_bytes(1 << 20);
  sent.resize(size, std::byte{3});
  const UniqueFd file = temporary_file();
  ASSERT_TRUE(write_full(file.get(), sent.data(), size));
  const Buffer to = buffer(size);
  for (const uint64_t offset : {0, 4096, 100}) {
    ::fdatasync(file.get());
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    const Span<std::byte> part = to.view().subspan(0, size - offset);
    const Status up = transfer().upload(HostFile{file.get(), offset}, part);
    ASSERT_TRUE(up) << up.error().message;
    std::vector<std::byte> got(size - offset);
    ASSERT_TRUE(to.download(got));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin() + static_cast<long>(offset)));
  }
}

TEST_P(TransferHostTest, ShortFilesAreErrors) {
  const UniqueFd file = temporary_file();
  ASSERT_EQ(::ftruncate(file.get(), 10 * kChunk), 0);
  const Buffer to = buffer(10 * kChunk);
  for (const uint64_t offset : {uint64_t{1}, uint64_t{11 * kChunk}}) {
    const Status done = transfer().upload(HostFile{file.get(), offset}, to.view());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::io);
    EXPECT_NE(done.error().message.find("truncated"), std::string::npos);
  }
}

TEST_P(TransferHostTest, SmallFilesGoThroughASlotOnceThereAreMany) {
  TransferTuning tuning = kTuning;
  tuning.through_slot = kChunk;
  Transfer transfer(*pool_, tuning);
  const UniqueFd file = temporary_file();
  const std::vector<std::byte> content = random_bytes(kChunk + 100);
  ASSERT_TRUE(write_full(file.get(), content.data(), content.size()));
  Buffer to = buffer(kChunk);
  const auto upload = [&](uint64_t offset, size_t size) {
    return transfer.upload(HostFile{file.get(), offset}, to.view().subspan(0, size));
  };
  for (size_t round = 0; round < 10; ++round) ASSERT_TRUE(upload(round, 1 + round));
  const uint64_t held_before = pool_->statistics().in_use;
  for (size_t round = 10; round < 20; ++round) ASSERT_TRUE(upload(round, 1 + round));
  const uint64_t held = pool_->statistics().in_use;
  EXPECT_GE(held, held_before + kChunk);  // a worker's slot
  for (const size_t size : {size_t{1}, kChunk - 1, kChunk}) {
    ASSERT_TRUE(to.fill(std::byte{0xa5}));
    ASSERT_TRUE(upload(100, size));
    std::vector<std::byte> expected(kChunk, std::byte{0xa5});
    std::copy_n(content.begin() + 100, size, expected.begin());
    EXPECT_EQ(content_of(to), expected);
  }
  EXPECT_EQ(upload(101, kChunk).error().code, ErrorCode::io);
  EXPECT_TRUE(upload(100, kChunk));
  EXPECT_EQ(pool_->statistics().in_use, held);
}

TEST_P(TransferHostTest, AFileThatIsTruncatedMeanwhile) {
  const UniqueFd file = temporary_file();
  ASSERT_EQ(::ftruncate(file.get(), 100 * kChunk), 0);
  const auto decode = [&](Span<const std::byte>, uint64_t, Stream&) -> Status {
    EXPECT_EQ(::ftruncate(file.get(), 0), 0);
    return {};
  };
  const Status done =
      transfer().upload_decoded(HostFile{file.get(), 0}, 100 * kChunk, kChunk, decode);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
}

TEST_P(TransferHostTest, WhatIsNoFileSaysSo) {
  const Buffer bytes = buffer(10 * kChunk);
  const UniqueFd read_only = *open_file("/dev/null", O_RDONLY);
  for (const int fd : {-1, read_only.get()}) {
    const Status down = transfer().download(bytes.view(), HostFile{fd, 0});
    ASSERT_FALSE(down);
    EXPECT_EQ(down.error().code, ErrorCode::io);
    EXPECT_EQ(down.error().system_errno, EBADF);
    EXPECT_FALSE(transfer().upload(HostFile{fd, 0}, bytes.view()));
    EXPECT_FALSE(transfer().upload(HostStream{fd}, bytes.view()));
  }
}

struct Ends {
  UniqueFd near;
  UniqueFd far;
};

Ends socket_pair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// far → near
Ends pipe_pair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Writes in pieces of odd sizes.
void feed(int fd, std::span<const std::byte> bytes) {
  std::mt19937_64 random(5);
  for (size_t at = 0; at < bytes.size();) {
    const size_t piece = std::min<size_t>(bytes.size() - at, random() % 100'000 + 1);
    if (!write_full(fd, bytes.data() + at, piece)) return;
    at += piece;
  }
}

TEST_P(TransferHostTest, SocketsAndPipesIn) {
  const std::vector<std::byte> sent = random_bytes(15 * kChunk + 4321);
  for (const bool blocking : {true, false}) {
    for (const auto make_ends : {socket_pair, pipe_pair}) {
      Ends ends = make_ends();
      if (!blocking) ::fcntl(ends.near.get(), F_SETFL, O_NONBLOCK);
      std::thread feeder([&] { feed(ends.far.get(), sent); });
      const Buffer one = buffer(5 * kChunk + 1);
      const Buffer two = buffer(sent.size() - one.size());
      EXPECT_TRUE(transfer().upload(HostStream{ends.near.get()}, one.view()));
      EXPECT_TRUE(transfer().upload(HostStream{ends.near.get()}, two.view()));
      feeder.join();
      std::vector<std::byte> received = content_of(one);
      const std::vector<std::byte> rest = content_of(two);
      received.insert(received.end(), rest.begin(), rest.end());
      EXPECT_EQ(received, sent);
    }
  }
}

TEST_P(TransferHostTest, SocketsAndPipesOut) {
  const std::vector<std::byte> sent = random_bytes(15 * kChunk + 4321);
  const Buffer from = filled(sent);
  for (const bool blocking : {true, false}) {
    for (const auto make_ends : {socket_pair, pipe_pair}) {
      Ends ends = make_ends();
      if (!blocking) ::fcntl(ends.far.get(), F_SETFL, O_NONBLOCK);
      std::vector<std::byte> received(sent.size());
      std::thread reader(
          [&] { (void)read_full(ends.near.get(), received.data(), received.size()); });
      const Status down = transfer().download(from.view(), HostStream{ends.far.get()});
      EXPECT_TRUE(down) << down.error().message;
      if (!down) ends.far.reset();
      reader.join();
      EXPECT_EQ(received, sent);
    }
  }
}

TEST_P(TransferHostTest, APeerThatClosesEarly) {
  const Buffer bytes = buffer(10 * kChunk);
  Ends in = socket_pair();
  ASSERT_TRUE(write_full(in.far.get(), content_of(bytes).data(), 1000));
  in.far.reset();
  const Status up = transfer().upload(HostStream{in.near.get()}, bytes.view());
  ASSERT_FALSE(up);
  EXPECT_EQ(up.error().code, ErrorCode::io);
  EXPECT_NE(up.error().message.find("1000 of"), std::string::npos) << up.error().message;

  Ends out = socket_pair();
  out.far.reset();
  const Status down = transfer().download(bytes.view(), HostStream{out.near.get()});
  ASSERT_FALSE(down);  // and no SIGPIPE
  EXPECT_EQ(down.error().code, ErrorCode::io);
  EXPECT_EQ(down.error().system_errno, EPIPE);
}

TEST_P(TransferHostTest, AStopEndsAWait) {
  const Buffer bytes = buffer(100 * kChunk);
  const Ends silent = socket_pair();
  for (const bool up : {true, false}) {
    std::stop_source stop;
    std::thread stopper([&] { stop.request_stop(); });
    const TransferRequest request = {.stop = stop.get_token()};
    const Status done =
        up ? transfer().upload(HostStream{silent.near.get()}, bytes.view(), request)
           : transfer().download(bytes.view(), HostStream{silent.near.get()}, request);
    stopper.join();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::cancelled);
  }
}

std::atomic<int> interruptions = 0;

TEST_P(TransferHostTest, SignalsInterruptNothing) {
  struct sigaction action {};
  action.sa_handler = [](int) { ++interruptions; };  // without SA_RESTART
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {{0, 200}, {0, 200}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);

  const std::vector<std::byte> sent = random_bytes(40 * kChunk);
  const UniqueFd file = temporary_file();
  const Buffer from = filled(sent);
  const Buffer to = buffer(sent.size());
  EXPECT_TRUE(transfer().download(from.view(), HostFile{file.get(), 0}));
  EXPECT_TRUE(transfer().upload(HostFile{file.get(), 0}, to.view()));
  EXPECT_EQ(content_of(to), sent);
  const Ends ends = socket_pair();
  std::thread feeder([&] { feed(ends.far.get(), sent); });
  EXPECT_TRUE(transfer().upload(HostStream{ends.near.get()}, to.view()));
  feeder.join();
  EXPECT_EQ(content_of(to), sent);

  const itimerval never = {};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace hoist::device
