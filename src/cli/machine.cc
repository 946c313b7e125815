#include "cli/machine.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "base/threads.h"

namespace hoist::cli {
namespace {

// The value behind "KEY :" in a file such as /proc/cpuinfo; empty where there is none.
std::string field_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

uint64_t kibibytes(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10) << 10;
}

// The folders of this process's cgroup (version 2) and of those around it. In a container the
// outermost one that is visible may not be the root.
std::vector<std::string> cgroup_folders() {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    std::string path = line.substr(3);
    while (path.size() > 1) {
      folders.push_back("/sys/fs/cgroup" + path);
      path.resize(std::max<size_t>(path.rfind('/'), 1));
      if (path == "/") break;
    }
  }
  folders.push_back("/sys/fs/cgroup");
  return folders;
}

std::optional<double> cpu_quota() {
  std::optional<double> least;
  for (const std::string& folder : cgroup_folders()) {
    std::ifstream file(folder + "/cpu.max");
    double quota = 0;
    double period = 0;
    if (!(file >> quota >> period) || period <= 0) continue;  // "max" is no number
    least = std::min(least.value_or(quota / period), quota / period);
  }
  return least;
}

std::optional<uint64_t> memory_limit() {
  std::optional<uint64_t> least;
  for (const std::string& folder : cgroup_folders()) {
    std::ifstream file(folder + "/memory.max");
    uint64_t limit = 0;
    if (file >> limit) least = std::min(least.value_or(limit), limit);
  }
  return least;
}

std::vector<std::string> useful_extensions() {
  static constexpr const char* kUseful[] = {"sse4_2",    "avx",    "avx2",       "avx512f",
                                            "avx512bw",  "bmi2",   "aes",        "vaes",
                                            "pclmulqdq", "sha_ni", "vpclmulqdq", "gfni"};
  std::istringstream flags(field_of("/proc/cpuinfo", "flags"));
  std::set<std::string> present;
  for (std::string flag; flags >> flag;) present.insert(flag);
  std::vector<std::string> useful;
  for (const char* flag : kUseful) {
    if (present.contains(flag)) useful.emplace_back(flag);
  }
  return useful;
}

}  // namespace

Processor describe_processor() {
  return {field_of("/proc/cpuinfo", "model name"),
          static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), usable_cpus(), cpu_quota(),
          useful_extensions()};
}

Memory describe_memory() {
  return {kibibytes(field_of("/proc/meminfo", "MemTotal")),
          kibibytes(field_of("/proc/meminfo", "MemAvailable")), memory_limit()};
}

}  // namespace hoist::cli
