// Writers that are killed, that meet a full disk, and that work while others read: what was
// acknowledged is there, and nothing of what was not.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/file.h"
#include "container/container_testing.h"

namespace hoist::container {
namespace {

constexpr size_t kSessionBlocks = 5;

// Session `n` of a file that only these tests write; small and large blocks, some aligned.
Model session_model(uint64_t n) {
  std::mt19937_64 random(n);
  Model model = random_model(random, kSessionBlocks - 1, 3000, n * kSessionBlocks);
  model.push_back(model_block((n * kSessionBlocks + kSessionBlocks - 1) * 0x9e3779b97f4a7c15u,
                              random_bytes(random, n % 7 == 3 ? 150000 : 10), 12));
  return model;
}

Status write_session(Writer& writer, uint64_t n) {
  for (const ModelBlock& block : session_model(n)) {
    if (Status added = writer.add(block.info, as_bytes(block.bytes)); !added) return added;
  }
  return writer.commit();
}

Model sessions_before(uint64_t n) {
  Model model;
  for (uint64_t i = 0; i < n; ++i) {
    const Model session = session_model(i);
    model.insert(model.end(), session.begin(), session.end());
  }
  return model;
}

// Whole sessions, at least `acknowledged`; gives their number.
uint64_t expect_whole_sessions(const std::string& path, uint64_t acknowledged) {
  std::mt19937_64 random(1);
  const auto reader = Reader::open(path);
  EXPECT_TRUE(reader) << reader.error().message;
  if (!reader) return 0;
  const uint64_t sessions = reader->blocks().size() / kSessionBlocks;
  EXPECT_EQ(reader->blocks().size() % kSessionBlocks, 0u);
  EXPECT_GE(sessions, acknowledged);
  const Model model = sessions_before(sessions);
  expect_blocks(*reader, model, model.size(), random);
  return sessions;
}

// Runs `body` in a child and kills it after `microseconds`; gives the bytes that it wrote to its
// descriptor.
uint64_t kill_after(useconds_t microseconds, const std::function<void(int)>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    body(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  ::usleep(microseconds);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  uint64_t acknowledged = 0;
  char byte;
  while (::read(ends[0], &byte, 1) == 1) ++acknowledged;
  ::close(ends[0]);
  return acknowledged;
}

TEST(Crash, KilledWhileAppending) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  write_container(path, {}, {.digests = true});
  uint64_t sessions = 0;
  for (int round = 0; round < 60; ++round) {
    // Acknowledges every session once it is committed, by one byte.
    const auto append = [&](int acknowledge) {
      Result<Writer> writer = Writer::append(path, {.durable = round % 4 == 0});
      if (!writer) return;
      for (uint64_t n = sessions; n < sessions + 20; ++n) {
        if (!write_session(*writer, n) || ::write(acknowledge, "+", 1) != 1) return;
      }
    };
    const uint64_t before = sessions;
    const uint64_t acknowledged = kill_after(random() % 6000, append);
    sessions = expect_whole_sessions(path, before + acknowledged);
    ASSERT_FALSE(HasFailure());
    if (sessions < 60) continue;
    write_container(path, {}, {.digests = true});
    sessions = 0;
  }
}

TEST(Crash, KilledWhileCreating) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const Model old = {model_block(1, "old")};
  for (int round = 0; round < 30; ++round) {
    write_container(path, old, {});
    const uint64_t acknowledged = kill_after(random() % 3000, [&](int acknowledge) {
      Result<Writer> writer = Writer::create(path, {.durable = false});
      if (writer && write_session(*writer, 0) && ::write(acknowledge, "+", 1) == 1) return;
    });
    const auto reader = Reader::open(path);
    ASSERT_TRUE(reader);
    ASSERT_EQ(reader->state(), IndexState::committed);
    const bool is_new = reader->blocks().size() == kSessionBlocks;
    ASSERT_TRUE(is_new || (acknowledged == 0 && reader->blocks().size() == 1));
    const Model& expected = is_new ? session_model(0) : old;
    expect_blocks(*reader, expected, expected.size(), random);
  }
}

TEST(Crash, FullDiskLeavesTheOldState) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  write_container(path, {}, {});
  append_session(path, session_model(0));
  const std::string before = bytes_of_file(path);
  // In a child, whose limit on the size of files it is.
  const auto with_limit = [&](rlim_t limit, const std::function<bool()>& succeeds) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit bound{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &bound);
      ::_exit(succeeds() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  for (rlim_t limit = 0; limit < before.size() + 200000; limit += 1 + limit / 5) {
    const std::string fresh = scratch.file("fresh");
    const bool created = with_limit(limit, [&] {
      Result<Writer> writer = Writer::create(fresh, {.durable = false});
      return writer && write_session(*writer, 3);
    });
    EXPECT_EQ(std::filesystem::exists(fresh), created);
    std::filesystem::remove(fresh);

    const bool appended = with_limit(limit, [&] {
      Result<Writer> writer = Writer::append(path, {.durable = false});
      return writer && write_session(*writer, 3);
    });
    if (!appended) {
      ASSERT_EQ(bytes_of_file(path), before);
    }
    write_bytes(path, before);
  }
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(Crash, FullDeviceIsAnErrorThatStays) {
  const Result<UniqueFd> full = open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  auto writer = Writer::stream(full->get(), {}, "/dev/full");
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->add(1, as_bytes("x")));  // in the buffer
  const Status committed = writer->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().system_errno, ENOSPC);
  EXPECT_EQ(writer->commit().error().system_errno, ENOSPC);
  EXPECT_EQ(writer->add(2, as_bytes("y")).error().system_errno, ENOSPC);
}

TEST(Crash, ReadersSeeWholeSessionsWhileAWriterAppends) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  write_container(path, {}, {});
  constexpr uint64_t kSessions = 40;
  std::atomic<uint64_t> acknowledged = 0;
  std::thread writing([&] {
    for (uint64_t n = 0; n < kSessions; ++n) {
      // Now a new writer, now the same again.
      Result<Writer> writer = Writer::append(path, {.durable = false});
      ASSERT_TRUE(writer);
      ASSERT_TRUE(write_session(*writer, n));
      acknowledged = n + 1;
      if (++n == kSessions) break;
      ASSERT_TRUE(write_session(*writer, n));
      acknowledged = n + 1;
    }
  });
  const auto watch = [&] {
    while (acknowledged < kSessions) expect_whole_sessions(path, acknowledged);
  };
  std::thread reading(watch);
  watch();
  reading.join();
  writing.join();
  EXPECT_EQ(expect_whole_sessions(path, kSessions), kSessions);
}

TEST(Crash, OneReaderServesManyThreads) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const Model model = random_model(random, 50, 20000);
  write_container(scratch.file("c"), model, {});
  const auto reader = Reader::open(scratch.file("c"));
  ASSERT_TRUE(reader);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 own(i);
      expect_blocks(*reader, model, model.size(), own);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::container
