#include "ops/qsort/system.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <charconv>

namespace hoist::qsort {
namespace {

constexpr int kQuicksortUntil = 38;  // above a quarter of the memory
constexpr int kNewestKnown = 42;
constexpr size_t kIndirect = 32;  // larger elements are sorted by pointers to them

}  // namespace

bool sorts_stably(std::string_view version, size_t count, size_t size, uint64_t physical_memory) {
  int minor = 0;
  if (!version.starts_with("2.")) return false;
  version.remove_prefix(2);
  const char* const end = version.data() + version.size();
  if (std::from_chars(version.data(), end, minor).ec != std::errc()) return false;
  if (minor > kNewestKnown) return false;
  if (minor > kQuicksortUntil) return true;
  const uint64_t buffer =
      size > kIndirect ? 2 * sizeof(void*) * uint64_t{count} + size : uint64_t{count} * size;
  return buffer <= physical_memory / 4;
}

bool sorts_stably(size_t count, size_t size) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const uint64_t memory = pages > 0 && page > 0
                              ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                              : UINT64_MAX;
  return sorts_stably(::gnu_get_libc_version(), count, size, memory);
}

}  // namespace hoist::qsort
