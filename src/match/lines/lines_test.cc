// Lines in blocks of every size, code points of any bytes, and scores beside the plain dynamic
// program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "base/file.h"
#include "base/test_seed.h"
#include "match/lines/code_points.h"
#include "match/lines/line_blocks.h"
#include "match/lines/line_scorer.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

UniqueFd file_of(std::string_view text) {
  UniqueFd fd(::memfd_create("lines", MFD_CLOEXEC));
  EXPECT_TRUE(pwrite_full(fd.get(), text.data(), text.size(), 0));
  return fd;
}

std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// All lines, or the error.
Result<std::vector<std::string>> lines_in_blocks(int fd, LineBlockSizes sizes) {
  LineBlocks blocks(fd, "file", sizes);
  std::vector<std::string> lines;
  std::string block;
  std::vector<uint32_t> ends;
  for (;;) {
    const auto more = blocks.next(block);
    if (!more) return more.error();
    if (!*more) return lines;
    EXPECT_FALSE(block.empty());
    find_line_ends(block, ends);
    for (size_t i = 0; i < ends.size(); ++i) lines.emplace_back(line_of(block, ends, i));
  }
}

std::string random_text(std::mt19937_64& random, size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = "ab\n\xC3\xA9\xFFZ"[random() % 7];
  return text;
}

TEST(LineBlocks, GiveTheLinesWhateverTheSizeOfBlocks) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 300; ++turn) {
    const std::string text = random_text(random, random() % 200);
    const UniqueFd fd = file_of(text);
    for (const size_t block : {1, 2, 3, 7, 64, 1000}) {
      ::lseek(fd.get(), 0, SEEK_SET);
      const auto lines = lines_in_blocks(fd.get(), {block, 1000});
      ASSERT_TRUE(lines);
      ASSERT_EQ(*lines, plain_lines(text)) << block;
    }
  }
}

TEST(LineBlocks, RefuseALineThatIsTooLong) {
  const UniqueFd fd = file_of("short\n" + std::string(100, 'x') + "\nshort\n");
  EXPECT_TRUE(lines_in_blocks(fd.get(), {8, 100}));
  ::lseek(fd.get(), 0, SEEK_SET);
  const auto lines = lines_in_blocks(fd.get(), {8, 80});
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, ErrorCode::exhausted);
  EXPECT_NE(lines.error().message.find("(file:2)"), std::string::npos) << lines.error().message;
}

TEST(LineBlocks, OfAPipeSayWhetherTheyWouldWait) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  LineBlocks blocks(reading.get(), "pipe");
  EXPECT_FALSE(blocks.is_ready());
  ASSERT_TRUE(write_full(writing.get(), "a\nb", 3));
  EXPECT_TRUE(blocks.is_ready());
  std::string block;
  ASSERT_TRUE(*blocks.next(block));
  EXPECT_EQ(block, "a\n");
  EXPECT_FALSE(blocks.is_ready());
  writing.reset();
  EXPECT_TRUE(blocks.is_ready());
  ASSERT_TRUE(*blocks.next(block));
  EXPECT_EQ(block, "b");
  EXPECT_FALSE(*blocks.next(block));
}

TEST(LineBlocks, OfAFolderAreAnError) {
  const auto folder = open_file("/", O_RDONLY);
  ASSERT_TRUE(folder);
  const auto lines = lines_in_blocks(folder->get(), {});
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().system_errno, EISDIR);
}

TEST(CodePoints, OfBytesThatAreNoUtf8AreThoseOfSurrogateescape) {
  const auto points = [](std::string_view text) {
    std::vector<uint32_t> all;
    append_line_points(text, false, all);
    return all;
  };
  using Points = std::vector<uint32_t>;
  EXPECT_EQ(points("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), (Points{'a', 0xE9, 0x20AC, 0x1F600}));
  EXPECT_EQ(points("\xE9"), (Points{0xDCE9}));
  EXPECT_EQ(points("\xE2\x82x"), (Points{0xDCE2, 0xDC82, 'x'}));
  EXPECT_EQ(points("\xC0\x80"), (Points{0xDCC0, 0xDC80}));              // overlong
  EXPECT_EQ(points("\xED\xA0\x80"), (Points{0xDCED, 0xDCA0, 0xDC80}));  // a surrogate
  EXPECT_EQ(points("\xF4\x90\x80\x80"), (Points{0xDCF4, 0xDC90, 0xDC80, 0xDC80}));
}

TEST(CodePoints, HaveALowerCase) {
  EXPECT_EQ(lower_case('A'), 'a');
  EXPECT_EQ(lower_case('['), '[');
  EXPECT_EQ(lower_case(0xC9), 0xE9);      // É
  EXPECT_EQ(lower_case(0x3A3), 0x3C3);    // Σ
  EXPECT_EQ(lower_case(0x416), 0x436);    // Ж
  EXPECT_EQ(lower_case(0xDCC9), 0xDCC9);  // a byte that is no UTF-8
  std::string folded;
  fold_ascii("AbZ[@\xC3\x89", folded);
  EXPECT_EQ(folded, "abz[@\xC3\x89");
}

double plain_score(PairScorer::Family family, const std::vector<uint32_t>& a,
                   const std::vector<uint32_t>& b) {
  const size_t lcs = oracle::lcs_length(a, b);
  const size_t largest =
      family == PairScorer::Family::indel ? a.size() + b.size() : std::max(a.size(), b.size());
  const size_t distance = family == PairScorer::Family::levenshtein
                              ? oracle::levenshtein_distance(a, b)
                          : family == PairScorer::Family::indel ? largest - 2 * lcs
                                                                : largest - lcs;
  if (largest == 0) return 1;
  return 1 - static_cast<double>(distance) / static_cast<double>(largest);
}

TEST(LineScorer, FindsWhatReachesTheThreshold) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 200; ++turn) {
    const bool fold = turn % 2 == 1;
    std::string text = random_text(random, random() % 400);
    std::string pattern = random_text(random, random() % 12);
    std::erase(pattern, '\n');
    std::vector<uint32_t> pattern_points;
    append_line_points(pattern, fold, pattern_points);
    std::vector<uint32_t> ends;
    find_line_ends(text, ends);
    for (const std::string_view name : {"indel", "levenshtein", "lcs"}) {
      const PairScorer pair = *line_scorer_named(name);
      const LineScorer scorer(pattern, pair, fold);
      for (const double threshold : {0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0}) {
        std::vector<LineHit> hits;
        scorer.find(text, ends, threshold, hits);
        size_t at = 0;
        for (uint32_t i = 0; i < ends.size(); ++i) {
          std::vector<uint32_t> points;
          append_line_points(line_of(text, ends, i), fold, points);
          const double score = plain_score(pair.family, pattern_points, points);
          const bool is_found = at < hits.size() && hits[at].line == i;
          ASSERT_EQ(is_found, score >= threshold) << name << " " << threshold << " " << score;
          if (!is_found) continue;
          ASSERT_EQ(hits[at++].score, score);
        }
        ASSERT_EQ(at, hits.size());
      }
    }
  }
  EXPECT_FALSE(line_scorer_named("difflib"));
}

TEST(LineScorer, ScoresLongLinesAndPatterns) {
  std::mt19937_64 random(test_seed());
  std::string pattern(700, 'x');
  for (char& c : pattern) c = static_cast<char>('a' + random() % 20);
  std::string line = pattern;
  for (int i = 0; i < 40; ++i) line[random() % line.size()] = '-';
  std::string text(5000, 'y');
  text += '\n' + line + '\n';
  std::vector<uint32_t> ends;
  find_line_ends(text, ends);
  const LineScorer scorer(pattern, *line_scorer_named("levenshtein"), false);
  std::vector<LineHit> hits;
  scorer.find(text, ends, 0.9, hits);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].line, 1u);
}

TEST(LineScorer, ShowsWhatIsCommon) {
  const LineScorer scorer("caf\xC3\xA9 noir", *line_scorer_named("indel"), true);
  std::string common;
  const std::string_view line = "Le CAF\xC3\x89, noir";
  for (const ByteRange& part : scorer.common_parts(line)) {
    common += "<" + std::string(line.substr(part.begin, part.end - part.begin)) + ">";
  }
  EXPECT_EQ(common, "<CAF\xC3\x89>< noir>");
  EXPECT_TRUE(scorer.common_parts(std::string(LineScorer::kMostShown + 1, 'c')).empty());
}

}  // namespace
}  // namespace hoist::match
