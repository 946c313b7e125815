// Lines come out whole and in order, whatever the blocks, and stay in place as promised.
#include <thread>

#include "ops/sort/reader.h"
#include "ops/sort/sort_testing.h"

namespace hoist::sort {
namespace {

std::string random_text(std::mt19937_64& random) {
  std::string text;
  for (size_t lines = random() % 40; lines > 0; --lines) {
    const size_t length = random() % 5 == 0 ? random() % 2000 : random() % 20;
    for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 26);
    text += '\n';
  }
  if (random() % 2 != 0 && !text.empty()) text.pop_back();
  return text;
}

// Reads to the end, checking each line again after the next was read.
std::string read_all(LineReader& reader) {
  std::string all;
  std::string copy;
  Line previous;
  for (Line line; reader.next(line); previous = line) {
    EXPECT_EQ(std::string_view(previous.text, previous.length), copy);
    EXPECT_EQ(line.text[line.length], '\n');
    copy.assign(line.text, line.length);
    all += copy + "\n";
  }
  Line more;
  EXPECT_FALSE(reader.next(more));
  EXPECT_TRUE(reader.status());
  return all;
}

std::string terminated(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

TEST(LineReader, FilesPipesAndRangesInBlocksOfAnySize) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(random);
    const size_t block = 1 + random() % 70;
    UniqueFd file(memfd_create("file", MFD_CLOEXEC));
    ASSERT_TRUE(pwrite_full(file.get(), text.data(), text.size(), 0));

    LineReader ranges('\n', block);
    const size_t middle = text.find('\n', text.size() / 2) + 1;  // 0 where there is none
    ranges.restart(file.get(), "file", middle, text.size());
    const std::string second = read_all(ranges);
    ranges.restart(file.get(), "file", 0, middle);
    EXPECT_EQ(read_all(ranges) + second, terminated(text));

    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::thread writer([&] {
      for (size_t at = 0; at < text.size(); at += 777) {
        EXPECT_TRUE(write_full(ends[1], text.data() + at, std::min<size_t>(777, text.size() - at)));
      }
      close(ends[1]);
    });
    LineReader piped(UniqueFd(ends[0]), "pipe", '\n', block);
    EXPECT_EQ(read_all(piped), terminated(text));
    writer.join();

    LineReader whole(std::move(file), "file", '\n', block);
    EXPECT_EQ(read_all(whole), terminated(text));
  }
}

TEST(LineReader, NoticesAFileThatBecameShorter) {
  const UniqueFd file(memfd_create("file", MFD_CLOEXEC));
  ASSERT_TRUE(pwrite_full(file.get(), "a\nb", 3, 0));
  LineReader reader('\n');
  reader.restart(file.get(), "file", 0, 10);
  EXPECT_EQ(read_all(reader), "a\nb\n");
  EXPECT_TRUE(reader.ended_early());
}

TEST(LineReader, ErrorsAreWordedAsByGnuSort) {
  const Result<LineReader> missing = LineReader::open("/no where", '\n');
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "open failed: '/no where': No such file or directory");
  Result<LineReader> directory = LineReader::open("/", '\n');
  ASSERT_TRUE(directory.has_value());
  Line line;
  EXPECT_FALSE(directory->next(line));
  ASSERT_FALSE(directory->status());
  EXPECT_EQ(directory->status().error().message, "read failed: /: Is a directory");
}

}  // namespace
}  // namespace hoist::sort
