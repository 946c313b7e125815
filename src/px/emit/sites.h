// The accesses of a module that its checked code numbers, so that a fault found there has its
// place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expression.h"

namespace hoist::px {

struct Site {
  ir::Place place;
  std::string array;

  friend bool operator==(const Site&, const Site&) = default;
};

class Sites {
 public:
  uint32_t add(Site site) {
    if (list_.empty() || list_.back() != site) list_.push_back(std::move(site));
    return static_cast<uint32_t>(list_.size() - 1);
  }
  const std::vector<Site>& list() const { return list_; }

 private:
  std::vector<Site> list_;
};

}  // namespace hoist::px
