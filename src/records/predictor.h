// The predictions of records/prediction.h.
#pragma once

#include <cstdint>

namespace hoist::records {

// The prediction of value i, from value i - 1 of the same sequence and so on. `first` and `second`
// are sources, `group` is a column with a dictionary; before(i) is the last position before i where
// the group's code is that of i, or i - 1 where there is none.
enum class Predictor : uint8_t {
  none = 0,         // 0
  last = 1,         // own[i - 1]
  line = 2,         // 2 own[i - 1] - own[i - 2]
  other = 3,        // first[i]
  other_last = 4,   // first[i - 1]
  group_last = 5,   // own[before(i)]
  group_other = 6,  // first[before(i)]
  larger = 7,       // max(first[i], second[i])
  smaller = 8,      // min(first[i], second[i])
};

}  // namespace hoist::records
