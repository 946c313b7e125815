// Which survivors rebuild wanted shards, and with what coefficients. For codec/parity.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/parity.h"

namespace hoist::codec {

// wanted[i] = sum over s of matrix()[i * N + s] * shard sources()[s].
//
// Sources are all data shards that survive and, for the L that do not, the first L surviving parity
// shards: only an L by L part of the Cauchy matrix has to be inverted, not one of N by N.
class ParityDecoder {
 public:
  // `present` has an entry for each shard, at least N of them true; `wanted` are not present.
  ParityDecoder(const Parity& parity, std::span<const bool> present,
                std::span<const size_t> wanted);

  std::span<const size_t> sources() const { return sources_; }
  std::span<const uint8_t> matrix() const { return matrix_; }

 private:
  // Rows of matrix() for lost data shards.
  std::vector<uint8_t> lost_data_rows(const Parity& parity) const;

  std::vector<size_t> sources_;  // N, surviving data shards first
  std::vector<size_t> lost_;     // data shards, ascending
  std::vector<uint8_t> matrix_;
};

}  // namespace hoist::codec
