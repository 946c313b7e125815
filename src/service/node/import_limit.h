// What an import may stand for. A few bytes that came may be millions of rows, by compression,
// dictionaries and lists of a fixed size: work that has to have an end, and that can be given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/result.h"

namespace hoist::service {

// Asked again and again by what takes long: its error ends the work.
using GoesOn = std::function<Status()>;

class ImportLimit {
 public:
  static constexpr uint64_t kMostRatio = 1000;      // to the bytes that came
  static constexpr uint64_t kFloor = 256 << 20;     // allowed whatever came
  static constexpr uint64_t kLeastRow = 1000;       // as which a row counts
  static constexpr size_t kValuesBetween = 10'000;  // in a row, after which goes_on() is asked

  explicit ImportLimit(GoesOn goes_on) : goes_on_(std::move(goes_on)) {}

  Status goes_on() const { return goes_on_ ? goes_on_() : Status(); }
  void came(size_t bytes) { came_ += bytes; }
  // `invalid_argument` where these bytes are too many for what came.
  Status take(uint64_t bytes);

 private:
  GoesOn goes_on_;
  uint64_t came_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace hoist::service
