// Encoders, appenders and readers side by side, on one pool: each gets what it would get alone.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "base/test_seed.h"
#include "container/container_testing.h"
#include "records/limits.h"
#include "records/reader.h"
#include "records/records_testing.h"
#include "records/writer.h"

namespace hoist::records {
namespace {

using container::bytes_of_file;
using container::Scratch;

ReadText pieces_of(std::string_view text, size_t most) {
  return [text, most, at = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
    const size_t size = std::min({into.size(), text.size() - at, most});
    std::copy_n(text.data() + at, size, into.data());
    at += size;
    return size;
  };
}

Status write(Result<RecordWriter> writer, std::string_view text) {
  if (!writer) return writer.error();
  if (Status status = writer->write_all(pieces_of(text, 100'000)); !status) return status;
  return writer->finish();
}

Status read(const RecordReader& reader, const ReadOptions& options, std::string& text) {
  text.clear();
  return reader.text(options, [&](std::string_view part) {
    text += part;
    return Status();
  });
}

std::string some_text(std::mt19937_64& random) {
  std::string text;
  while (text.size() < 300'000) text += random_records(random, 500) + "\n";
  return text;
}

void run_all(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (std::thread& thread : running) thread.join();
}

TEST(RecordThreads, EncodersShareAPool) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  ThreadPool pool(4);
  // Blocks of as many rows as they may have.
  const std::string text = some_text(random) + repeated("1,2\n", 4 * kMaxRows);
  const RecordOptions options{.durable = false, .pool = &pool};
  ASSERT_TRUE(write(RecordWriter::create(scratch.file("alone"), options), text));
  const std::string alone = bytes_of_file(scratch.file("alone"));
  run_all(6, [&](int i) {
    const std::string path = scratch.file("x" + std::to_string(i));
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(write(RecordWriter::create(path, options), text));
      EXPECT_TRUE(bytes_of_file(path) == alone);
    }
  });
}

TEST(RecordThreads, ReadersShareAFileAndAPool) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  ThreadPool pool(4);
  std::string text;
  const std::string path = scratch.file("x");
  for (int i = 0; i < 12; ++i) {  // a block each, at least
    const std::string more = some_text(random).substr(0, 40'000) + "\n";
    const RecordOptions options{.durable = false, .pool = &pool};
    ASSERT_TRUE(write(
        i == 0 ? RecordWriter::create(path, options) : RecordWriter::append(path, options), more));
    text += more;
  }
  const Result<RecordReader> reader = RecordReader::open(path);
  ASSERT_TRUE(reader);
  run_all(6, [&](int i) {
    std::string again;
    for (int round = 0; round < 4; ++round) {
      EXPECT_TRUE(read(*reader, {.pool = &pool}, again));
      EXPECT_TRUE(again == text);
      const uint64_t first = (i + 1) * reader->rows() / 9;
      EXPECT_TRUE(read(*reader, {.first = first, .end = first + 100, .pool = &pool}, again));
      EXPECT_EQ(count_rows(again), std::min<uint64_t>(100, reader->rows() - first));
      for (size_t b = 0; b < reader->blocks().size(); ++b) {
        const Result<LoadedBlock> loaded = reader->load(b);
        ASSERT_TRUE(loaded);
        for (size_t c = 0; c < loaded->block().columns().size(); ++c) {
          EXPECT_TRUE(loaded->block().read(c));
        }
      }
    }
  });
}

TEST(RecordThreads, ReadersBesideAnAppenderSeeAPrefix) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  ThreadPool pool(2);
  const std::string path = scratch.file("x");
  std::string text;
  std::vector<std::string> pieces;
  for (int i = 0; i < 60; ++i) {
    std::string piece;
    for (uint64_t row = 1 + random() % 40; row > 0; --row) {
      piece += "{\"row\": " + std::to_string(random() % 100000) + "}\n";
    }
    text += piece;
    pieces.push_back(std::move(piece));
  }
  const RecordOptions options{.durable = false, .commit_at_pauses = true, .pool = &pool};
  ASSERT_TRUE(write(RecordWriter::create(path, options), pieces[0]));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    // A piece a read: each is a batch, and committed.
    Result<RecordWriter> appended = RecordWriter::append(path, options);
    EXPECT_TRUE(appended);
    size_t next = 1;
    EXPECT_TRUE(appended->write_all([&](std::span<char> into) -> Result<size_t> {
      return next == pieces.size() ? 0 : pieces[next++].copy(into.data(), into.size());
    }));
    EXPECT_TRUE(appended->finish());
    done = true;
  });
  run_all(3, [&](int) {
    std::string seen;
    for (bool last = false; !last;) {
      last = done;
      const Result<RecordReader> reader = RecordReader::open(path);
      ASSERT_TRUE(reader) << reader.error().message;
      EXPECT_TRUE(read(*reader, {.pool = &pool}, seen));
      EXPECT_TRUE(text.starts_with(seen));
      EXPECT_TRUE(seen.ends_with('\n'));
    }
    EXPECT_EQ(seen, text);
  });
  writer.join();
}

}  // namespace
}  // namespace hoist::records
