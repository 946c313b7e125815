// How good a tensor is with some of its parts: measured when it was encoded, never assumed.
//
//   quality = 1 - |x - x'|^2 / |x|^2        cosine = x·x' / (|x| |x'|)
//
// over the finite elements, in double; both are 1 where |x| is 0 and x' equals x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hoist::tensors {

struct QualityPoint {
  double quality = 0;
  double cosine = 0;
};

// `prefixes` has an entry for each part of a prefix encoding: parts 0…k together. In any-subset
// encodings it has one for fragments 0…k in order, and `energies` besides: what each fragment adds,
// as a share of |x|^2, to the `common` share, which any one of them brings. Energies add exactly
// because fragments are orthogonal.
struct QualityCurve {
  std::vector<QualityPoint> prefixes;
  double common = 0;
  std::vector<double> energies;

  bool any_subset() const { return !energies.empty(); }

  // 0 of nothing. `parts` without duplicates; those out of range count nothing.
  double quality(std::span<const size_t> parts) const;

  // The fewest parts, in order, that reach `target`; all of them where none does.
  size_t parts_for(double target) const;
};

}  // namespace hoist::tensors
