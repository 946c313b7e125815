// What moves classes: rotations of the scope, of the modality, twists of the context, the mirror.
//
//   apply({.rotate = 1}, 5)     // 29
//   Transform both = compose(first, second);   // apply(both, c) == apply(second, apply(first, c))
//
// R, D and T commute with one another, the mirror with R and T. It turns D around:
// mirror, D+k, mirror is D-k. Transforms are a group of 4 · 3 · 8 · 2 = 192 elements.
#pragma once

#include <cstdint>

#include "graph/classes/classes.h"

namespace hoist::graph {

// Done in this order. Amounts are what was written: they count modulo 4, 3 and 8.
struct Transform {
  int64_t rotate = 0;    // R: scope + rotate
  int64_t triality = 0;  // D: modality + triality
  int64_t twist = 0;     // T: context + twist
  bool mirror = false;   // ~: modality 1 becomes 2, and 2 becomes 1

  friend bool operator==(const Transform&, const Transform&) = default;
};

Components apply(const Transform& transform, Components components);
uint8_t apply(const Transform& transform, uint8_t index);

// `first`, then `second`. Amounts are summed as they are.
Transform compose(const Transform& first, const Transform& second);

}  // namespace hoist::graph
