#include "service/monitoring/system_usage.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace hoist::service {
namespace {

double percent(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole * 100, 0.0, 100.0) : 0.0;
}

}  // namespace

SystemUsage SystemWatch::look() {
  SystemUsage usage;

  // user nice system idle iowait irq softirq steal (proc(5))
  std::string word;
  std::array<uint64_t, 8> ticks = {};
  std::ifstream stat("/proc/stat");
  if (stat >> word && word == "cpu") {
    uint64_t all = 0;
    for (uint64_t& value : ticks) {
      stat >> value;
      all += value;
    }
    const uint64_t busy = all - ticks[3] - ticks[4];
    usage.cpu_percent = percent(static_cast<double>(busy - busy_), static_cast<double>(all - all_));
    busy_ = busy;
    all_ = all;
  }

  uint64_t total = 0, available = 0;  // KiB
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream fields(line);
    uint64_t value = 0;
    fields >> word >> value;
    if (word == "MemTotal:") total = value;
    if (word == "MemAvailable:") available = value;
  }
  if (total >= available) {
    usage.memory_bytes = (total - available) * 1024;
    usage.memory_percent =
        percent(static_cast<double>(total - available), static_cast<double>(total));
  }

  struct statvfs space = {};
  if (::statvfs(folder_.c_str(), &space) == 0) {
    usage.disk_percent = percent(static_cast<double>(space.f_blocks - space.f_bfree),
                                 static_cast<double>(space.f_blocks));
  }

  uint64_t pages = 0;
  std::ifstream statm("/proc/self/statm");
  if (statm >> pages >> pages) {
    usage.resident_bytes = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return usage;
}

}  // namespace hoist::service
