// Reed-Solomon parity over equal-sized shards: from N data shards K parity shards are made, and any
// N of the N + K give all of them back.
//
//   Result<Parity> parity = Parity::create(10, 4);
//   parity->encode(data, parity_shards);              // spans of spans, 10 and 4
//   …shards 3 and 11 are lost…
//   parity->reconstruct(survivors, {{3, buffer3}, {11, buffer11}});
//
// Arithmetic is that of GF(2^8) with the polynomial x^8+x^4+x^3+x^2+1 (0x11d). Shards are numbered
// 0…N-1 (data) and N…N+K-1 (parity); byte b of parity shard N+i is the sum over j of
// C[i][j] * (byte b of data shard j), where C[i][j] = 1 / ((N + i) xor j) is a Cauchy matrix: every
// square part of it has an inverse, so any K losses can be mended (Blömer, Kalfane, Karp,
// Karpinski, Luby, Zuckerman: "An XOR-based erasure-resilient coding scheme", 1995).
// docs/reference/parity.md shows it.
//
// Parity mends losses; it does not find errors. A shard that may be wrong needs a checksum, and one
// whose checksum fails is lost. verify() says only whether all shards fit together.
//
// Objects are immutable and may be used by any number of threads. Shards need no alignment, may
// have any size, zero too, and must not overlap where one of them is written. Calls work in ranges
// of bytes that fit the second-level cache; with a pool, ranges are shared out over its threads.
// Wrong counts and sizes are answered with invalid_argument, and nothing is written then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"

namespace hoist::codec {

class Parity {
 public:
  using Shard = std::span<const std::byte>;
  using WritableShard = std::span<std::byte>;
  struct Survivor {
    size_t index;
    Shard bytes;
  };
  struct Wanted {
    size_t index;
    WritableShard bytes;
  };

  static constexpr size_t kMaxShards = 255;

  // At least one shard of each kind, kMaxShards in all.
  static Result<Parity> create(size_t data_shards, size_t parity_shards);

  size_t data_shards() const { return data_shards_; }
  size_t parity_shards() const { return parity_shards_; }
  // C[parity][data] of the text above.
  uint8_t coefficient(size_t parity, size_t data) const {
    return matrix_[parity * data_shards_ + data];
  }

  Status encode(std::span<const Shard> data, std::span<const WritableShard> parity,
                ThreadPool* pool = nullptr) const;

  // Adds what data shard `index` contributes to parity shards that began as zeros. After each data
  // shard was added once, in any order, they are what encode() makes. Where data arrive one shard
  // at a time none has to be kept.
  Status accumulate(size_t index, Shard data, std::span<const WritableShard> parity,
                    ThreadPool* pool = nullptr) const;

  // Computes the wanted shards from N or more survivors, in any order; only what is wanted is
  // computed. Fewer than N survivors: `corrupt`, and nothing is written.
  Status reconstruct(std::span<const Survivor> survivors, std::span<const Wanted> wanted,
                     ThreadPool* pool = nullptr) const;

  // Whether the parity shards are those of the data shards.
  Result<bool> verify(std::span<const Shard> data, std::span<const Shard> parity,
                      ThreadPool* pool = nullptr) const;

 private:
  Parity(size_t data_shards, size_t parity_shards);

  size_t data_shards_;
  size_t parity_shards_;
  std::vector<uint8_t> matrix_;  // K rows of N
  std::vector<uint8_t> tables_;  // ISA-L's products of each coefficient with all half bytes
};

}  // namespace hoist::codec
