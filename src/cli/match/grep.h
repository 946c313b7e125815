// hoist match grep: lines of files that resemble a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hoist::cli {

struct MatchGrepOptions {
  std::string pattern;
  std::vector<std::string> files;  // "-" is standard input, as is none without `recursive`
  std::string scorer = "indel";
  double threshold = 0.7;
  uint64_t top = 0;  // the best so many, best first; 0: all, as they come
  bool recursive = false;
  bool ignore_case = false;
  bool invert = false;
  bool count = false;
  bool numbers = false;
  bool json = false;
  std::optional<bool> names;  // else where there may be several files
  std::string color = "auto";
  std::optional<uint64_t> before;  // else `around`
  std::optional<uint64_t> after;
  uint64_t around = 0;
};

// grep's exit status: 0 some lines, 1 none, 2 an error.
int match_grep(const MatchGrepOptions& options);

}  // namespace hoist::cli
