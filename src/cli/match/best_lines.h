// The best lines of `hoist match grep -k`: in memory of these, not of the number that is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hoist::cli {

struct BestLine {
  double score;
  uint64_t file;  // in the order in which files are read
  uint64_t number;
  std::string text;
};

class BestLines {
 public:
  // 0: keeps none.
  explicit BestLines(uint64_t most) : most_(most) {}

  void add(BestLine line);
  // What a further line must reach to be one of them; `threshold` while there are too few.
  double bound(double threshold) const;
  // Best first, equal ones in the order of the input.
  std::vector<BestLine> take();

 private:
  void cut();

  uint64_t most_;
  bool is_full_ = false;
  double worst_ = 0;  // of the best, where it is full
  std::vector<BestLine> lines_;
};

}  // namespace hoist::cli
