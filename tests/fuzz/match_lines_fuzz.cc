// Lines of any bytes: the first line of the input is the pattern, the first two bytes say how.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "match/lines/code_points.h"
#include "match/lines/line_blocks.h"
#include "match/lines/line_scorer.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hoist::match;
  if (size < 2) return 0;
  constexpr std::string_view kScorers[] = {"indel", "levenshtein", "lcs"};
  const std::string_view scorer_name = kScorers[data[0] % 3];
  const bool fold = data[0] >= 128;
  const double threshold = data[1] / 255.0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view pattern = text.substr(0, end);
  const std::string_view block = text.substr(end);
  std::vector<uint32_t> ends;
  find_line_ends(block, ends);
  check(ends.empty() ? block.empty() : ends.back() == block.size());
  const LineScorer scorer(pattern, *line_scorer_named(scorer_name), fold);
  std::vector<LineHit> all;
  std::vector<LineHit> hits;
  scorer.find(block, ends, 0, all);
  scorer.find(block, ends, threshold, hits);
  check(all.size() == ends.size());
  size_t at = 0;
  for (const LineHit& line : all) {
    check(line.score >= 0 && line.score <= 1);
    if (line.score < threshold) continue;
    check(at < hits.size() && hits[at].line == line.line && hits[at].score == line.score);
    ++at;
    const std::string_view text_of = line_of(block, ends, line.line);
    size_t last = 0;
    for (const ByteRange& part : scorer.common_parts(text_of)) {
      check(part.begin >= last && part.begin < part.end && part.end <= text_of.size());
      last = part.end;
    }
  }
  check(at == hits.size());
  return 0;
}
