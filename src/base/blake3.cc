// The input is cut into chunks of 1024 bytes, the leaves of a binary tree whose left subtrees are
// complete (section 2.1). Complete subtrees are hashed as soon as more input follows, which proves
// that they are not the root; their roots wait on a stack as the digits of the chunk count in
// binary, and merge as in a binary addition (section 5.1.2).
#include "base/blake3.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/blake3_compress.h"

namespace hoist {
namespace {

using namespace blake3_detail;

// Large enough that the narrow levels near a subtree's root cost nothing, small enough for a stack.
constexpr uint64_t kMaxSubtree = 256;
constexpr size_t kValueBytes = 32;

// Compresses `count` inputs, the widest kernel first.
void compress_many(Inputs inputs, size_t count, uint32_t* out) {
  for (const Kernel& kernel : kernels()) {
    while (count >= kernel.lanes) {
      kernel.run(inputs, out);
      inputs.data += kernel.lanes * inputs.blocks * kBlockBytes;
      inputs.counter += kernel.lanes * inputs.counter_step;
      out += kernel.lanes * 8;
      count -= kernel.lanes;
    }
  }
}

// Stores a digest or the children of a parent; words are little-endian, as they lie.
template <typename Words>
void store(const Words& words, uint8_t* bytes) {
  std::memcpy(bytes, words.data(), kValueBytes);
}

}  // namespace

void Blake3::push(const ChainingValue& subtree, uint64_t chunks) {
  ChainingValue top = subtree;
  chunks_ += chunks;
  for (uint64_t digits = chunks_ / chunks; digits % 2 == 0; digits /= 2) {
    uint8_t block[kBlockBytes];
    store(stack_[--depth_], block);
    store(top, block + kValueBytes);
    std::memcpy(top.data(), kInitial, kValueBytes);
    compress(top.data(), block, kBlockBytes, 0, kParent);
  }
  stack_[depth_++] = top;
}

void Blake3::hash_subtree(const uint8_t* data, uint64_t chunks) {
  uint32_t level[kMaxSubtree * 8];
  compress_many({.data = data,
                 .blocks = kChunkBytes / kBlockBytes,
                 .counter = chunks_,
                 .counter_step = 1,
                 .flags = 0,
                 .first_flags = kChunkStart,
                 .last_flags = kChunkEnd},
                chunks, level);
  for (uint64_t nodes = chunks / 2; nodes > 0; nodes /= 2) {
    uint32_t parents[kMaxSubtree / 2 * 8];
    compress_many({.data = reinterpret_cast<const uint8_t*>(level),
                   .blocks = 1,
                   .counter = 0,
                   .counter_step = 0,
                   .flags = kParent,
                   .first_flags = 0,
                   .last_flags = 0},
                  nodes, parents);
    std::memcpy(level, parents, nodes * kValueBytes);
  }
  ChainingValue root;
  std::memcpy(root.data(), level, kValueBytes);
  push(root, chunks);
}

void Blake3::update(const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  if (size == 0) return;
  if (pending_size_ > 0) {
    const size_t taken = std::min(size, kChunkBytes - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes, taken);
    pending_size_ += taken;
    bytes += taken;
    size -= taken;
    if (size == 0) return;
    hash_subtree(pending_.data(), 1);
    pending_size_ = 0;
  }
  while (size > kChunkBytes) {
    // The largest subtree that lies aligned in the whole tree and leaves a byte to follow it.
    uint64_t chunks = std::bit_floor(std::min<uint64_t>((size - 1) / kChunkBytes, kMaxSubtree));
    if (chunks_ > 0) chunks = std::min(chunks, uint64_t{1} << std::countr_zero(chunks_));
    hash_subtree(bytes, chunks);
    bytes += chunks * kChunkBytes;
    size -= chunks * kChunkBytes;
  }
  std::memcpy(pending_.data(), bytes, size);
  pending_size_ = size;
}

Blake3Digest Blake3::finish() const {
  // The last chunk; its last block, or the last parent above it, is the root.
  ChainingValue value;
  std::memcpy(value.data(), kInitial, kValueBytes);
  uint32_t root = depth_ == 0 ? kRoot : 0;
  size_t offset = 0;
  do {
    const size_t block_bytes = std::min(kBlockBytes, pending_size_ - offset);
    uint8_t block[kBlockBytes] = {};
    std::memcpy(block, pending_.data() + offset, block_bytes);
    const bool last = offset + block_bytes == pending_size_;
    compress(value.data(), block, static_cast<uint32_t>(block_bytes), chunks_,
             (offset == 0 ? kChunkStart : 0) | (last ? kChunkEnd | root : 0));
    offset += kBlockBytes;
  } while (offset < pending_size_);

  for (size_t i = depth_; i-- > 0;) {
    root = i == 0 ? kRoot : 0;
    uint8_t block[kBlockBytes];
    store(stack_[i], block);
    store(value, block + kValueBytes);
    std::memcpy(value.data(), kInitial, kValueBytes);
    compress(value.data(), block, kBlockBytes, 0, kParent | root);
  }
  Blake3Digest digest;
  store(value, digest.data());
  return digest;
}

Blake3Digest blake3(const void* data, size_t size) {
  Blake3 hash;
  hash.update(data, size);
  return hash.finish();
}

}  // namespace hoist
