// BLAKE3, hash mode, 256-bit digests (O'Connor, Aumasson, Neves, Wilcox-O'Hearn: "BLAKE3: one
// function, fast everywhere", 2020; section numbers in the sources refer to it).
//
//   Blake3 hash;
//   hash.update(header, sizeof header);
//   hash.update(body.data(), body.size());
//   const Blake3Digest digest = hash.finish();
//
// However the input is cut into updates, the digest is that of the whole. Large updates (16 KiB and
// more) are what is fast: whole chunks are compressed 4, 8 or 16 at a time, by what the processor
// has. One thread; an object may be used by one thread at a time. Never fails, never allocates.
//
// Not offered: keyed hashing, key derivation, longer output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hoist {

using Blake3Digest = std::array<uint8_t, 32>;

class Blake3 {
 public:
  void update(const void* data, size_t size);
  // The digest of all that came so far; more may follow.
  Blake3Digest finish() const;

 private:
  static constexpr size_t kChunkBytes = 1024;
  static constexpr size_t kMaxDepth = 54;  // 2^54 chunks are 2^64 bytes

  using ChainingValue = std::array<uint32_t, 8>;

  // Appends the root of a complete subtree of `chunks` chunks, a power of two.
  void push(const ChainingValue& subtree, uint64_t chunks);
  void hash_subtree(const uint8_t* data, uint64_t chunks);

  // Roots of the complete subtrees to the left, largest first: one for each bit set in chunks_.
  std::array<ChainingValue, kMaxDepth> stack_;
  size_t depth_ = 0;
  uint64_t chunks_ = 0;  // chunks on the stack
  // The last chunk is compressed only once it is known not to be the root, or to be it.
  std::array<uint8_t, kChunkBytes> pending_;
  size_t pending_size_ = 0;
};

Blake3Digest blake3(const void* data, size_t size);

}  // namespace hoist
