#include "device/device.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hoist::device {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr int kPreferred = 1;  // MPOL_PREFERRED of linux/mempolicy.h

// Fresh pages, aligned to a huge page, on `numa_node` (-1: anywhere); null: out of memory.
std::byte* map_pages(size_t bytes, int numa_node) {
  const size_t mapped = bytes + kHugePage;
  void* const memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(memory);
  const size_t head = -reinterpret_cast<uintptr_t>(start) % kHugePage;
  std::byte* const data = start + head;
  if (head > 0) ::munmap(start, head);
  ::munmap(data + bytes, mapped - head - bytes);
  ::madvise(data, bytes, MADV_HUGEPAGE);
  constexpr int kNodes = 64;
  if (numa_node >= 0 && numa_node < kNodes) {
    const uint64_t nodes = uint64_t{1} << numa_node;
    // A preference: where the node is full, or the call refused, memory from elsewhere works too.
    (void)::syscall(SYS_mbind, data, bytes, kPreferred, &nodes, kNodes + 1, 0);
  }
  return data;
}

}  // namespace

Result<void*> Device::allocate_pinned(size_t size) {
  std::byte* const data = map_pages(size, properties_.numa_node);
  if (data == nullptr) {
    return fail(ErrorCode::exhausted, fmt::format("map {} bytes: out of memory", size));
  }
  if (Status pinned = pin(data, size); !pinned) {
    ::munmap(data, size);
    return pinned.error();
  }
  return data;
}

Status Device::trim() { return {}; }

Result<DeviceMemory> Device::memory() {
  return fail(ErrorCode::unsupported, fmt::format("{} has no memory of its own", properties_.id()));
}

Status Device::start_copy_kernel(const CopyKernel&, StreamHandle) {
  return fail(ErrorCode::unsupported, fmt::format("{} has no copy kernel", properties_.id()));
}

Status Device::run_served(StreamHandle, uint32_t, std::initializer_list<Range>,
                          std::initializer_list<uint64_t>, std::chrono::nanoseconds) {
  return fail(ErrorCode::unsupported, fmt::format("{} is not hoistd's", properties_.id()));
}

Status Device::write_value(uint32_t* word, uint32_t value, StreamHandle stream) {
  return fail(ErrorCode::unsupported, fmt::format("{} writes no values", properties_.id()));
}

Status Device::free_pinned(void* data, size_t size) {
  if (Status unpinned = unpin(data); !unpinned) return unpinned;
  ::munmap(data, size);
  return {};
}

}  // namespace hoist::device
