#include "ops/qsort/gpu_numbers.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "base/option_values.h"
#include "device/radix_sort/there_and_back.h"
#include "device/remote/lent_device.h"
#include "ops/qsort/operation.h"
#include "placement/choose.h"
#include "takeover/gpu_hint.h"

namespace hoist::qsort {
namespace {

using device::radix_sort::Kind;

constexpr uint64_t kPoolBytes = uint64_t{96}
                                << 20;            // two rings of a transfer, and room for requests
constexpr size_t kWorthAsking = size_t{4} << 20;  // bytes; fewer are sorted sooner than sent

bool is_required() { return gpu_use() == HOIST_GPU_REQUIRE; }

Kind kind_of(const Key& key) {
  switch (key.type) {
    case KeyType::i32:
      return Kind::i32;
    case KeyType::i64:
      return Kind::i64;
    case KeyType::u64:
      return Kind::u64;
    case KeyType::f32:
      return Kind::f32;
    case KeyType::f64:
      return Kind::f64;
    default:
      return Kind::u32;
  }
}

}  // namespace

bool is_for_gpu(const Call& call, const Key& key) {
  const uint64_t bytes = uint64_t{call.count} * call.size;
  if (is_required()) return true;
  if (bytes < kWorthAsking || !hoist_gpu_may_serve()) return false;
  return placement::choose(variant_of(key.length), {bytes}).implementation == kOnGpu;
}

Result<const char*> sort_numbers_on_gpu(const Call& call, const Key& key, Workspace& workspace,
                                        int threads, const std::byte*& input,
                                        std::chrono::milliseconds wait) {
  auto lent = device::remote::lent_device({.wait = wait, .own_pool = kPoolBytes});
  if (!lent) return lent.error();
  device::Device& gpu = **lent;
  const bool is_gpu = gpu.properties().compute_major > 0;
  if (!is_gpu && !is_required()) return fail(ErrorCode::unavailable, "hoistd has no GPU");
  const std::span<std::byte> array(call.base, call.count * call.size);
  std::byte* const copy = workspace.buffer(0, array.size());
  if (copy == nullptr) return fail(ErrorCode::exhausted, "no memory for a copy (qsort)");

  device::PinnedPool pool(gpu);
  device::Transfer transfer(pool, device::radix_sort::tuning_for(threads));
  bool wrote = false;
  const Status done = device::radix_sort::sort({.kind = kind_of(key),
                                                .descending = key.descending,
                                                .from = array,
                                                .to = array,
                                                .copy = {copy, array.size()},
                                                .only_plain = is_float(key.type),
                                                .wrote = &wrote},
                                               gpu, transfer);
  if (!done) {
    if (wrote) std::memcpy(array.data(), copy, array.size());
    return done.error();
  }
  input = copy;
  return is_gpu ? "cuda" : "hoistd";
}

}  // namespace hoist::qsort
