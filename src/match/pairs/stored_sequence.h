// For tests: a sequence whose symbols have so many bytes each, in memory of its own, so that
// nothing beyond it is read unseen.
#pragma once

#include <cstdint>
#include <vector>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

class StoredSequence {
 public:
  StoredSequence(const std::vector<uint32_t>& symbols, uint32_t width) {
    for (const uint32_t symbol : symbols) {
      for (uint32_t byte = 0; byte < width; ++byte) {
        bytes_.push_back(static_cast<uint8_t>(symbol >> (8 * byte)));
      }
    }
    sequence_.symbols = bytes_.data();
    sequence_.length = static_cast<uint32_t>(symbols.size());
    sequence_.width = width;
  }

  const Sequence& sequence() const { return sequence_; }

 private:
  std::vector<uint8_t> bytes_;
  Sequence sequence_;
};

}  // namespace hoist::match
