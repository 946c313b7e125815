// Hoist's side of peer_bench.py:
//
//   match_scan_file LENGTH THRESHOLD RUNS THREADS STATES < symbols > matches
//
// Standard input holds symbols of 32 bits: STATES states, then patterns, all of LENGTH. Standard
// output gets a 32-bit integer for each state and pattern, in order: the LCS where kato's score
// reaches THRESHOLD, else 0. Standard error gets the median seconds of RUNS searches.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "match/scan/search.h"
#include "match/segment_builder.h"

namespace {

std::vector<uint32_t> read_symbols() {
  std::vector<uint32_t> symbols;
  uint32_t buffer[1 << 14];
  while (const size_t got = std::fread(buffer, sizeof(uint32_t), std::size(buffer), stdin)) {
    symbols.insert(symbols.end(), buffer, buffer + got);
  }
  return symbols;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hoist::match;
  if (argc != 6) {
    std::fprintf(stderr, "usage: match_scan_file LENGTH THRESHOLD RUNS THREADS STATES\n");
    return 2;
  }
  const size_t length = std::strtoull(argv[1], nullptr, 10);
  const size_t runs = std::strtoull(argv[3], nullptr, 10);
  const size_t states = std::strtoull(argv[5], nullptr, 10);
  SearchOptions options;
  options.threshold = std::strtod(argv[2], nullptr);
  const std::vector<uint32_t> all = read_symbols();
  if (length == 0 || runs == 0 || all.size() < states * length) return 2;

  std::vector<std::span<const uint32_t>> queries;
  for (size_t i = 0; i < states; ++i) {
    queries.push_back(std::span(all).subspan(i * length, length));
  }
  const auto patterns = std::span(all).subspan(states * length);
  std::vector<uint64_t> ends(patterns.size() / length);
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = (i + 1) * length;
  const uint32_t largest = *std::max_element(all.begin(), all.end());
  const auto segment = build_segment({patterns, ends, largest + 1});
  if (!segment) {
    std::fprintf(stderr, "match_scan_file: %s\n", segment.error().message.c_str());
    return 1;
  }

  hoist::ThreadPool pool(std::atoi(argv[4]));
  std::vector<double> seconds;
  std::vector<std::vector<Match>> matches;
  for (size_t run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    auto found = search(segment->view(), queries, options, pool);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (!found) return 1;
    matches = std::move(*found);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<long>(runs / 2), seconds.end());
  std::fprintf(stderr, "%.6f\n", seconds[runs / 2]);
  for (const auto& of_state : matches) {
    std::vector<uint32_t> lcs(ends.size());
    for (const Match& match : of_state) lcs[match.pattern] = match.raw;
    std::fwrite(lcs.data(), sizeof(uint32_t), lcs.size(), stdout);
  }
  return 0;
}
