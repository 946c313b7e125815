#include "device/populate.h"

#include <sys/mman.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "base/result.h"
#include "base/threads.h"

namespace hoist::device {
namespace {

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The least for which a thread pays.
constexpr size_t kPart = size_t{16} << 20;
constexpr size_t kMostThreads = 8;

void populate_part(std::span<std::byte> part) {
  (void)::madvise(part.data(), part.size(), MADV_POPULATE_WRITE);
}

}  // namespace

void populate(std::span<std::byte> memory) {
  const auto cpus = static_cast<size_t>(usable_cpus());
  const size_t parts = std::clamp<size_t>(memory.size() / kPart, 1, std::min(cpus, kMostThreads));
  const size_t size = (memory.size() / parts + kPart - 1) / kPart * kPart;
  std::vector<std::thread> threads;
  while (memory.size() > size) {
    const std::span<std::byte> part = memory.first(size);
    Result<std::thread> thread = start_quiet_thread([part] { populate_part(part); });
    if (!thread) break;  // the rest is this one's
    threads.push_back(std::move(*thread));
    memory = memory.subspan(size);
  }
  populate_part(memory);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hoist::device
