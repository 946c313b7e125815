#include "base/cgroup.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace hoist {
namespace {

constexpr size_t kSmallFile = 64 << 10;

// Where a controller's files of this process's group and its parents are, the innermost first.
std::vector<std::string> folders_up(const std::string& mount, std::string group) {
  std::vector<std::string> folders;
  while (group.size() > 1) {
    folders.push_back(mount + group);
    group.resize(group.find_last_of('/'));
  }
  folders.push_back(mount);
  return folders;
}

struct Groups {
  std::vector<std::string> unified;  // version 2
  std::vector<std::string> cpu;      // version 1
  std::vector<std::string> memory;
};

// /proc/self/cgroup has lines ID:CONTROLLERS:PATH; version 2 has no controllers there.
Groups read_groups(const std::string& root) {
  Groups groups;
  const Result<std::string> text = read_file(root + "/proc/self/cgroup", kSmallFile);
  if (!text) return groups;
  const std::string mount = root + "/sys/fs/cgroup";
  for (size_t start = 0; start < text->size();) {
    const size_t end = std::min(text->find('\n', start), text->size());
    const std::string line = text->substr(start, end - start);
    start = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") groups.unified = folders_up(mount, path);
    if (controllers.find(",cpu,") != std::string::npos)
      groups.cpu = folders_up(mount + "/cpu", path);
    if (controllers.find(",memory,") != std::string::npos) {
      groups.memory = folders_up(mount + "/memory", path);
    }
  }
  return groups;
}

std::optional<uint64_t> read_number(const std::string& path) {
  const Result<std::string> text = read_file(path, kSmallFile);
  if (!text || text->empty() || (*text)[0] < '0' || (*text)[0] > '9') return {};
  return std::strtoull(text->c_str(), nullptr, 10);
}

// The value of `key` in lines KEY VALUE.
uint64_t read_stat(const std::string& path, std::string_view key) {
  const Result<std::string> text = read_file(path, kSmallFile);
  if (!text) return 0;
  const std::string wanted = "\n" + std::string(key) + " ";
  const size_t found = ("\n" + *text).find(wanted);
  if (found == std::string::npos) return 0;
  return std::strtoull(text->c_str() + found + wanted.size() - 1, nullptr, 10);
}

void allow_cpus(long long quota, long long period, int& smallest) {
  if (quota <= 0 || period <= 0) return;
  const int cpus =
      static_cast<int>(std::clamp<long long>((quota + period - 1) / period, 1, 1 << 20));
  smallest = smallest == 0 ? cpus : std::min(smallest, cpus);
}

void allow_memory(std::optional<uint64_t> limit, std::optional<uint64_t> used, uint64_t cache,
                  uint64_t& smallest) {
  // Version 1 writes a number near 2^63 for "no limit".
  if (!limit || !used || *limit > uint64_t{1} << 60) return;
  const uint64_t held = *used - std::min(*used, cache);
  smallest = std::min(smallest, std::max(*limit - std::min(*limit, held), *limit / 8));
}

}  // namespace

int cgroup_cpus(const std::string& root) {
  const Groups groups = read_groups(root);
  int smallest = 0;
  for (const std::string& folder : groups.unified) {
    const Result<std::string> text = read_file(folder + "/cpu.max", kSmallFile);
    long long quota = 0;
    long long period = 0;
    if (text && std::sscanf(text->c_str(), "%lld %lld", &quota, &period) == 2) {
      allow_cpus(quota, period, smallest);
    }
  }
  for (const std::string& folder : groups.cpu) {
    const auto quota = read_number(folder + "/cpu.cfs_quota_us");
    const auto period = read_number(folder + "/cpu.cfs_period_us");
    if (quota && period) {
      allow_cpus(static_cast<long long>(*quota), static_cast<long long>(*period), smallest);
    }
  }
  return smallest;
}

uint64_t cgroup_memory_available(const std::string& root) {
  const Groups groups = read_groups(root);
  uint64_t smallest = UINT64_MAX;
  for (const std::string& folder : groups.unified) {
    allow_memory(read_number(folder + "/memory.max"), read_number(folder + "/memory.current"),
                 read_stat(folder + "/memory.stat", "inactive_file") +
                     read_stat(folder + "/memory.stat", "active_file"),
                 smallest);
  }
  for (const std::string& folder : groups.memory) {
    allow_memory(read_number(folder + "/memory.limit_in_bytes"),
                 read_number(folder + "/memory.usage_in_bytes"),
                 read_stat(folder + "/memory.stat", "total_inactive_file") +
                     read_stat(folder + "/memory.stat", "total_active_file"),
                 smallest);
  }
  return smallest;
}

}  // namespace hoist
