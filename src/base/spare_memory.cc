#include "base/spare_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/cgroup.h"
#include "base/file.h"

namespace hoist {
namespace {

// "MemAvailable:   12345 kB" of /proc/meminfo; everything where that cannot be read.
uint64_t memory_available() {
  const Result<std::string> text = read_file("/proc/meminfo", 65536);
  constexpr std::string_view kName = "MemAvailable:";
  const size_t at = text ? text->find(kName) : std::string::npos;
  if (at == std::string::npos) return UINT64_MAX;
  const size_t digits = text->find_first_not_of(' ', at + kName.size());
  uint64_t kibibytes = 0;
  if (digits == std::string::npos) return UINT64_MAX;
  std::from_chars(text->data() + digits, text->data() + text->size(), kibibytes);
  return kibibytes << 10;
}

}  // namespace

uint64_t memory_within_reach() {
  const auto physical = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(physical, cgroup_memory_available());
}

bool has_spare_memory(uint64_t bytes) {
  constexpr uint64_t kNotWorthAsking = uint64_t{16} << 20;
  return bytes <= kNotWorthAsking ||
         bytes <= std::min(cgroup_memory_available(), memory_available()) / 2;
}

}  // namespace hoist
