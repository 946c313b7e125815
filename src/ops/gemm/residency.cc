#include "ops/gemm/residency.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/per_process.h"

namespace hoist::gemm {
namespace {

constinit PerProcess<KeptRanges> process_ranges;

// From the matrix's first byte to its last.
size_t span_bytes(int64_t rows, int64_t columns, int64_t leading, size_t element) {
  return static_cast<size_t>((columns - 1) * leading + rows) * element;
}

}  // namespace

KeptRanges& KeptRanges::get() { return process_ranges.get(); }

int KeptRanges::keep(const void* memory, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(memory);
  if (memory == nullptr || bytes == 0 || bytes > UINTPTR_MAX - first) return EINVAL;
  const std::lock_guard lock(mutex_);
  const auto behind = ranges_.lower_bound(first);
  if (behind != ranges_.end() && behind->first < first + bytes) return EINVAL;
  if (behind != ranges_.begin() && std::prev(behind)->second.end > first) return EINVAL;
  try {
    ranges_.emplace(first, Range{first + bytes, ++contents_});
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  is_used_.store(true, std::memory_order_release);
  return 0;
}

int KeptRanges::dirty(const void* memory, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(memory);
  if (memory == nullptr || bytes == 0 || bytes > UINTPTR_MAX - first) return EINVAL;
  return renew(first, first + bytes) ? 0 : ENOENT;
}

int KeptRanges::release(const void* memory) {
  const std::lock_guard lock(mutex_);
  return ranges_.erase(reinterpret_cast<uintptr_t>(memory)) == 1 ? 0 : ENOENT;
}

bool KeptRanges::renew(uintptr_t first, uintptr_t end) {
  const std::lock_guard lock(mutex_);
  auto range = ranges_.lower_bound(first);
  if (range != ranges_.begin() && std::prev(range)->second.end > first) --range;
  bool any = false;
  for (; range != ranges_.end() && range->first < end; ++range, any = true) {
    range->second.content = ++contents_;
  }
  return any;
}

void KeptRanges::written_by(const hoist_blas_call& call, bool is_ours) {
  if (!is_used_.load(std::memory_order_acquire)) return;
  constexpr int64_t kMost = int64_t{1} << 31;
  const bool is_plain = std::min({call.m, call.n, call.k}) >= 0 &&
                        std::max({call.m, call.n, call.k, call.ldc}) <= kMost && call.ldc >= 0 &&
                        call.batch.count <= 1;
  if (is_ours || is_plain) {
    written(make_plan(call).operands[2], element_size(call.type));
  } else {
    (void)renew(0, UINTPTR_MAX);
  }
}

void KeptRanges::written(const Operand& operand, size_t element) {
  if (operand.rows <= 0 || operand.columns <= 0) return;
  for (int64_t at = 0; at < operand.count; ++at) {
    const auto first = reinterpret_cast<uintptr_t>(operand.item(at));
    (void)renew(first, first + span_bytes(operand.rows, operand.columns, operand.leading, element));
  }
}

uint64_t KeptRanges::content(const void* memory, size_t bytes) const {
  if (!is_used_.load(std::memory_order_acquire)) return 0;
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const std::lock_guard lock(mutex_);
  auto range = ranges_.upper_bound(first);
  if (range == ranges_.begin()) return 0;
  --range;
  return first < range->second.end && bytes <= range->second.end - first ? range->second.content
                                                                         : 0;
}

ResidentMatrices::Copy ResidentMatrices::find(device::Device& device, const Operand& operand,
                                              size_t element) {
  Copy copy;
  copy.content = ranges_.content(
      operand.data, span_bytes(operand.rows, operand.columns, operand.leading, element));
  if (copy.content == 0) return copy;
  {
    const std::lock_guard lock(mutex_);
    prune_locked();  // what the program has changed makes room for what it has now
    const auto known = copies_.find(key_of(operand, element));
    if (known != copies_.end()) return known->second;
  }
  const auto bytes = static_cast<uint64_t>(operand.rows) * static_cast<uint64_t>(operand.columns);
  Result<device::Buffer> buffer = device::Buffer::allocate(device, bytes * element);
  if (buffer) copy.buffer = std::make_shared<device::Buffer>(std::move(*buffer));
  return copy;
}

void ResidentMatrices::add(const Operand& operand, size_t element, const Copy& copy) {
  const std::lock_guard lock(mutex_);
  Copy& known = copies_[key_of(operand, element)];
  known = copy;
  known.is_there = true;
}

void ResidentMatrices::prune_locked() {
  for (auto at = copies_.begin(); at != copies_.end();) {
    const auto& [data, rows, columns, leading, element] = at->first;
    const bool is_current =
        ranges_.content(data, span_bytes(rows, columns, leading, element)) == at->second.content;
    at = is_current ? std::next(at) : copies_.erase(at);
  }
}

void ResidentMatrices::prune() {
  const std::lock_guard lock(mutex_);
  prune_locked();
}

bool ResidentMatrices::drop() {
  const std::lock_guard lock(mutex_);
  const bool had_any = !copies_.empty();
  copies_.clear();
  return had_any;
}

}  // namespace hoist::gemm
