// With D the lost data shards, S the surviving ones, and P the chosen parity shards, encoding says
// P = C_D D + C_S S, so D = inverse(C_D) (P + C_S S); addition and subtraction are both exclusive
// or. A lost parity shard is its row of C over S and D.
#include "codec/parity_decoder.h"

#include <isa-l/erasure_code.h>

#include <algorithm>

namespace hoist::codec {

ParityDecoder::ParityDecoder(const Parity& parity, std::span<const bool> present,
                             std::span<const size_t> wanted) {
  const size_t n = parity.data_shards();
  for (size_t i = 0; i < n; ++i) (present[i] ? sources_ : lost_).push_back(i);
  for (size_t i = n; sources_.size() < n; ++i) {
    if (present[i]) sources_.push_back(i);
  }
  const std::vector<uint8_t> lost_rows = lost_data_rows(parity);

  matrix_.assign(wanted.size() * n, 0);
  for (size_t w = 0; w < wanted.size(); ++w) {
    uint8_t* row = &matrix_[w * n];
    if (wanted[w] < n) {
      const auto lost = std::lower_bound(lost_.begin(), lost_.end(), wanted[w]);
      std::copy_n(lost_rows.begin() + (lost - lost_.begin()) * n, n, row);
      continue;
    }
    const size_t p = wanted[w] - n;
    for (size_t s = 0; s < n - lost_.size(); ++s) row[s] = parity.coefficient(p, sources_[s]);
    for (size_t d = 0; d < lost_.size(); ++d) {
      const uint8_t factor = parity.coefficient(p, lost_[d]);
      for (size_t s = 0; s < n; ++s) row[s] ^= gf_mul(factor, lost_rows[d * n + s]);
    }
  }
}

std::vector<uint8_t> ParityDecoder::lost_data_rows(const Parity& parity) const {
  const size_t n = parity.data_shards();
  const size_t count = lost_.size();
  const size_t kept = n - count;
  std::vector<uint8_t> rows(count * n);
  if (count == 0) return rows;
  const auto parity_row = [&](size_t i) { return sources_[kept + i] - n; };

  std::vector<uint8_t> square(count * count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t d = 0; d < count; ++d) {
      square[i * count + d] = parity.coefficient(parity_row(i), lost_[d]);
    }
  }
  // Cannot fail: parts of a Cauchy matrix are not singular.
  std::vector<uint8_t> inverse(count * count);
  gf_invert_matrix(square.data(), inverse.data(), static_cast<int>(count));

  for (size_t d = 0; d < count; ++d) {
    uint8_t* row = &rows[d * n];
    for (size_t i = 0; i < count; ++i) {
      const uint8_t factor = inverse[d * count + i];
      row[kept + i] = factor;
      for (size_t s = 0; s < kept; ++s) {
        row[s] ^= gf_mul(factor, parity.coefficient(parity_row(i), sources_[s]));
      }
    }
  }
  return rows;
}

}  // namespace hoist::codec
