#include "base/caller_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace hoist {
namespace {

// Since Linux 5.14; not in Debian 12's <sys/mman.h> without the kernel's own header.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

bool has_handler(int number) {
  struct sigaction action;
  return ::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL;
}

bool populate(const void* data, size_t size, int advice) {
  if (size == 0) return true;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(data) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(data) + size;
  return ::madvise(reinterpret_cast<void*>(start), end - start, advice) == 0;
}

}  // namespace

CallerMemory::CallerMemory() : watched_(has_handler(SIGSEGV) || has_handler(SIGBUS)) {}

bool CallerMemory::readable(const void* data, size_t size) const {
  return !watched_ || populate(data, size, kPopulateRead);
}

bool CallerMemory::writable(void* data, size_t size) const {
  return !watched_ || populate(data, size, kPopulateWrite);
}

bool overlap(const void* a, size_t a_size, const void* b, size_t b_size) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return first < second + b_size && second < first + a_size;
}

}  // namespace hoist
