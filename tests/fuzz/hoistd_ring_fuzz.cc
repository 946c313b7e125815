// Fuzzes what stands between a client's shared memory and hoistd's own: the ring's bytes are the
// client's, and change while they are read. What the checks let through must lie inside the pool or
// inside a buffer of this client, and what the operations' own checks let through must fit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "daemon/check.h"
#include "daemon/operations.h"
#include "device/remote/ring.h"

namespace {

using hoist::daemon::BufferTable;
using hoist::daemon::CheckedRequest;
using hoist::daemon::UserMemory;
using hoist::device::remote::Receiver;
using hoist::device::remote::ServedCall;
using hoist::device::remote::ServedMemory;

constexpr size_t kPool = 8192;

void require(bool condition) {
  if (!condition) std::abort();
}

// Three buffers, of which the second was freed.
BufferTable& buffers() {
  static BufferTable* const table = [] {
    auto* made = new BufferTable({1 << 20, 8}, std::make_shared<UserMemory>(UINT64_MAX));
    for (const uint64_t size : {1000, 2000, 3000}) {
      auto buffer = made->allocate(hoist::device::cpu_device(), nullptr, size);
      require(buffer.has_value());
      made->publish(std::move(*buffer));
    }
    require(made->free(2).has_value());
    return made;
  }();
  return *table;
}

bool is_inside(const ServedMemory& part, const std::byte* data, size_t size) {
  return part.data >= data && part.data <= data + size &&
         part.size <= static_cast<size_t>(data + size - part.data);
}

void judge(const hoist_request& request, std::vector<std::byte>& pool) {
  const auto checked = CheckedRequest::check(request, buffers(), pool);
  if (!checked) return;
  for (const ServedMemory& part : checked->memory()) {
    bool inside = part.in_pool && is_inside(part, pool.data(), pool.size());
    for (const uint64_t number : {1, 3}) {
      const auto buffer = buffers().find(number);
      inside |=
          !part.in_pool && is_inside(part, static_cast<std::byte*>(buffer->data()), buffer->size());
    }
    require(inside);
  }
  const auto* const operation = hoist::daemon::find_operation(request.operation);
  if (operation == nullptr || (checked->uses_pool() && !operation->takes_pool())) return;
  const ServedCall call = {
      hoist::device::cpu_device(), {}, checked->memory(), checked->arguments()};
  if (operation->validate(call)) require(operation->run(call).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::vector<std::byte> pool(kPool);
  auto lane = std::make_unique<hoist_ring_queue>();
  Receiver receiver(lane.get());
  uint64_t in_flight = 0;
  // Each step writes some bytes of the input somewhere into the lane, then drains: where in 16
  // bits, half of them at the requests' starts, how many in 8.
  while (bytes >= 3) {
    const size_t place = (data[0] | size_t{data[1]} << 8);
    const size_t size = std::min<size_t>({data[2], bytes - 3, sizeof(hoist_request)});
    const size_t entry = place % HOIST_RING_ENTRIES;
    const size_t at = (place & 0x8000) == 0
                          ? place % (sizeof *lane - size)
                          : offsetof(hoist_ring_queue, entries) + entry * sizeof(hoist_ring_entry);
    std::memcpy(reinterpret_cast<char*>(lane.get()) + at, data + 3, size);
    data += 3 + size;
    bytes -= 3 + size;
    std::array<hoist_request, HOIST_RING_ENTRIES> batch;
    const auto count = receiver.drain(batch);
    if (!count) return 0;
    in_flight += *count;
    require(in_flight <= HOIST_RING_ENTRIES);
    for (size_t i = 0; i < *count; ++i) judge(batch[i], pool);
    for (; in_flight > 0; --in_flight) receiver.complete(HOIST_RING_OK, 0, 0);
  }
  return 0;
}
