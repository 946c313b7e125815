// What the machine offers, for `hoist doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hoist::cli {

struct Processor {
  std::string model;
  int cores = 0;                 // online
  int usable = 0;                // by affinity, quota and HOIST_THREADS
  std::optional<double> quota;   // CPUs that the cgroup grants; none: no limit
  std::vector<std::string> isa;  // extensions that the engines can use
};

struct Memory {
  uint64_t total = 0;  // bytes
  uint64_t available = 0;
  std::optional<uint64_t> limit;  // of the cgroup
};

Processor describe_processor();
Memory describe_memory();

}  // namespace hoist::cli
