#include "match/oracle/oracle.h"

#include <algorithm>
#include <map>

namespace hoist::match::oracle {
namespace {

using Positions = std::map<uint32_t, std::vector<size_t>>;

// Where each symbol of b occurs, less the popular ones.
Positions positions_of(const Symbols& b, bool autojunk) {
  Positions positions;
  for (size_t j = 0; j < b.size(); ++j) positions[b[j]].push_back(j);
  if (autojunk && b.size() >= 200) {
    const size_t most = b.size() / 100 + 1;
    for (auto at = positions.begin(); at != positions.end();) {
      at = at->second.size() > most ? positions.erase(at) : std::next(at);
    }
  }
  return positions;
}

struct Window {
  size_t a_begin, a_end, b_begin, b_end;
};

Block longest_match(const Symbols& a, const Symbols& b, const Positions& positions,
                    const Window& w) {
  Block best = {w.a_begin, w.b_begin, 0};
  std::map<size_t, size_t> above;  // run that ends in each column of the row above
  for (size_t i = w.a_begin; i < w.a_end; ++i) {
    std::map<size_t, size_t> row;
    const auto found = positions.find(a[i]);
    if (found != positions.end()) {
      for (const size_t j : found->second) {
        if (j < w.b_begin || j >= w.b_end) continue;
        const size_t run = (j > 0 && above.contains(j - 1) ? above[j - 1] : 0) + 1;
        row[j] = run;
        if (run > best.size) best = {i + 1 - run, j + 1 - run, run};
      }
    }
    above = row;
  }
  while (best.a > w.a_begin && best.b > w.b_begin && a[best.a - 1] == b[best.b - 1]) {
    best = {best.a - 1, best.b - 1, best.size + 1};
  }
  while (best.a + best.size < w.a_end && best.b + best.size < w.b_end &&
         a[best.a + best.size] == b[best.b + best.size]) {
    ++best.size;
  }
  return best;
}

void collect(const Symbols& a, const Symbols& b, const Positions& positions, const Window& w,
             std::vector<Block>& blocks) {
  if (w.a_begin >= w.a_end || w.b_begin >= w.b_end) return;
  const Block block = longest_match(a, b, positions, w);
  if (block.size == 0) return;
  collect(a, b, positions, {w.a_begin, block.a, w.b_begin, block.b}, blocks);
  blocks.push_back(block);
  collect(a, b, positions, {block.a + block.size, w.a_end, block.b + block.size, w.b_end}, blocks);
}

double similarity_of_distance(size_t distance, size_t maximum) {
  const double normalized =
      maximum == 0 ? 0.0 : static_cast<double>(distance) / static_cast<double>(maximum);
  return 1.0 - normalized;
}

}  // namespace

size_t lcs_length(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      length[i][j] = a[i - 1] == b[j - 1] ? length[i - 1][j - 1] + 1
                                          : std::max(length[i - 1][j], length[i][j - 1]);
    }
  }
  return length[a.size()][b.size()];
}

size_t levenshtein_distance(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
    }
  }
  return cost[a.size()][b.size()];
}

std::vector<Block> matching_blocks(const Symbols& a, const Symbols& b, bool autojunk) {
  std::vector<Block> found;
  collect(a, b, positions_of(b, autojunk), {0, a.size(), 0, b.size()}, found);
  std::vector<Block> blocks;
  for (const Block& block : found) {
    if (!blocks.empty() && blocks.back().a + blocks.back().size == block.a &&
        blocks.back().b + blocks.back().size == block.b) {
      blocks.back().size += block.size;
    } else {
      blocks.push_back(block);
    }
  }
  return blocks;
}

std::vector<Opcode> opcodes(const Symbols& a, const Symbols& b, bool autojunk) {
  std::vector<Opcode> codes;
  std::vector<Block> blocks = matching_blocks(a, b, autojunk);
  blocks.push_back({a.size(), b.size(), 0});
  size_t i = 0;
  size_t j = 0;
  for (const Block& block : blocks) {
    if (i < block.a && j < block.b) {
      codes.push_back({"replace", i, block.a, j, block.b});
    } else if (i < block.a) {
      codes.push_back({"delete", i, block.a, j, block.b});
    } else if (j < block.b) {
      codes.push_back({"insert", i, block.a, j, block.b});
    }
    i = block.a + block.size;
    j = block.b + block.size;
    if (block.size > 0) codes.push_back({"equal", block.a, i, block.b, j});
  }
  return codes;
}

double ratio(const Symbols& a, const Symbols& b, bool autojunk) {
  if (a.empty() && b.empty()) return 1.0;
  size_t matched = 0;
  for (const Block& block : matching_blocks(a, b, autojunk)) matched += block.size;
  return 2.0 * static_cast<double>(matched) / static_cast<double>(a.size() + b.size());
}

double kato_similarity(size_t lcs, size_t n, size_t m) {
  if (n + m == 0) return 0.0;
  const double score = 2.0 * static_cast<double>(lcs) / static_cast<double>(n + m) * 100.0;
  return score / 100.0;
}

bool kato_keeps(size_t lcs, size_t n, size_t m, double threshold) {
  const double score =
      n + m == 0 ? 0.0 : 2.0 * static_cast<double>(lcs) / static_cast<double>(n + m) * 100.0;
  if (!(score >= threshold * 100.0 - 1e-6)) return false;
  return score / 100.0 >= threshold;
}

double lcs_similarity(size_t lcs, size_t n, size_t m) {
  return similarity_of_distance(std::max(n, m) - lcs, std::max(n, m));
}

double indel_similarity(size_t lcs, size_t n, size_t m) {
  return similarity_of_distance(n + m - 2 * lcs, n + m);
}

double levenshtein_similarity(size_t distance, size_t n, size_t m) {
  return similarity_of_distance(distance, std::max(n, m));
}

Symbols code_points(const std::string& text) {
  Symbols points;
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(text[at]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t lead = byte(i);
    const size_t size = lead < 0x80    ? 1
                        : lead >= 0xF0 ? 4
                        : lead >= 0xE0 ? 3
                        : lead >= 0xC0 ? 2
                                       : 1;
    bool whole = lead < 0x80 || (lead >= 0xC0 && lead < 0xF8 && i + size <= text.size());
    for (size_t k = 1; whole && k < size; ++k) whole = (byte(i + k) & 0xC0) == 0x80;
    if (!whole || size == 1) {
      points.push_back(lead);
      ++i;
      continue;
    }
    uint32_t point = lead & (0x7Fu >> size);
    for (size_t k = 1; k < size; ++k) point = point << 6 | (byte(i + k) & 0x3Fu);
    points.push_back(point);
    i += size;
  }
  return points;
}

double fuzz_ratio(const std::string& a, const std::string& b) {
  const Symbols x = code_points(a);
  const Symbols y = code_points(b);
  return indel_similarity(lcs_length(x, y), x.size(), y.size()) * 100.0;
}

std::optional<double> extract(const std::string& a, const std::string& b, double cutoff) {
  const double held = static_cast<float>(cutoff);
  const Symbols x = code_points(a);
  const Symbols y = code_points(b);
  const double normalized = indel_similarity(lcs_length(x, y), x.size(), y.size());
  const double score = normalized * 100.0;
  if (normalized < held / 100.0 || score < held) return {};
  return score;
}

}  // namespace hoist::match::oracle
