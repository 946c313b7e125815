// Random projection: a seeded orthogonal transform of all elements in a row; format.h has the
// bytes.
//
//   1. Element i changes its sign where sign(i) of the stream kSigns (seeded_rng.h) is set.
//   2. Blocks: as many of kMaxProjectionBlock elements as there are, then the powers of two of
//   which
//      the rest is the sum, largest first. Each block goes through the orthonormal
//      Walsh-Hadamard transform (codec/walsh.h).
//   3. Coefficients are dealt in order (dealing.h), up to the largest multiple of the number of
//      fragments; the rest, fewer than fragments, is common.
//
// Rows of an orthogonal matrix are orthonormal, so any k of N fragments are an orthogonal
// projection onto a space of k / N of the dimensions, and the transposed matrix, with zeros for
// what is missing, gives the least-squares solution. A block is bounded because one that fits in a
// core's cache, or a multiprocessor's shared memory, is transformed in one pass over memory; each
// fragment has its N-th part of every block's rows, so shares scatter no more than with longer
// ones.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/threads.h"

namespace hoist::tensors {

inline constexpr uint64_t kMaxProjectionBlock = uint64_t{1} << 14;

// Steps 1 and 2, and backwards; in place, in parallel over blocks.
void project(std::span<float> values, uint64_t seed, ThreadPool* pool = nullptr);
void unproject(std::span<float> values, uint64_t seed, ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
