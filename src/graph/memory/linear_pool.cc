#include "graph/memory/linear_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace hoist::graph {
namespace {

Error no_memory(size_t bytes) {
  return fail(ErrorCode::exhausted, "Out of memory: requested " + std::to_string(bytes) + " bytes");
}

Result<std::shared_ptr<std::byte>> of_the_system(size_t bytes) {
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return no_memory(bytes);
  // Without effect where the kernel has no huge pages.
  ::madvise(data, bytes, MADV_HUGEPAGE);
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(data),
                                    [bytes](std::byte* at) { ::munmap(at, bytes); });
}

}  // namespace

LinearPool& LinearPool::process() {
  static LinearPool& pool = *new LinearPool;
  return pool;
}

LinearPool::~LinearPool() {
  for (size_t size_class = class_of(kPage); size_class < kSizeClasses; ++size_class) {
    for (std::byte* const data : free_[size_class]) std::free(data);
  }
  for (std::byte* const data : cut_) std::free(data);
}

// 64 bytes, then 80, 96, 112, 128, 160, …: a power of two and its quarters, as floats are numbered.
size_t LinearPool::class_of(size_t bytes) {
  if (bytes <= kAlignment) return 0;
  const size_t last = bytes - 1;
  const auto power = static_cast<size_t>(std::bit_width(last)) - 1;
  return 4 * (power - 6) + (last >> (power - 2)) % 4 + 1;
}

size_t LinearPool::class_bytes(size_t size_class) {
  return (4 + size_class % 4) << (4 + size_class / 4);
}

Result<std::shared_ptr<std::byte>> LinearPool::allocate(size_t bytes, Contents contents) {
  if (bytes > kMostPooled) return of_the_system(bytes);
  const size_t size_class = class_of(bytes);
  std::byte* data = take(size_class);
  if (data == nullptr) return no_memory(bytes);
  if (contents == Contents::zeros) std::memset(data, 0, bytes);
  return std::shared_ptr<std::byte>(
      data, [this, size_class](std::byte* at) { give_back(at, size_class); });
}

std::byte* LinearPool::take(size_t size_class) {
  const size_t bytes = class_bytes(size_class);
  {
    const std::lock_guard lock(mutex_);
    auto& list = free_[size_class];
    if (list.empty() && bytes < kPage) cut_pieces(size_class);
    if (!list.empty()) {
      std::byte* const data = list.back();
      list.pop_back();
      idle_ -= bytes;
      return data;
    }
  }
  if (bytes < kPage) return nullptr;
  return static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
}

void LinearPool::cut_pieces(size_t size_class) {
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(kPage, kPieces));
  if (data == nullptr) return;
  cut_.push_back(data);
  // Sizes that are no multiple of the alignment are rounded up to one.
  const size_t step = (class_bytes(size_class) + kAlignment - 1) / kAlignment * kAlignment;
  for (size_t at = 0; at + step <= kPieces; at += step) {
    free_[size_class].push_back(data + at);
    idle_ += class_bytes(size_class);
  }
}

void LinearPool::give_back(std::byte* data, size_t size_class) {
  const size_t bytes = class_bytes(size_class);
  {
    const std::lock_guard lock(mutex_);
    if (bytes < kPage || idle_ + bytes <= kMostIdle) {
      free_[size_class].push_back(data);
      idle_ += bytes;
      return;
    }
  }
  std::free(data);
}

size_t LinearPool::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

}  // namespace hoist::graph
