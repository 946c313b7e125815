// What the machine and this process use, from /proc.
#pragma once

#include <cstdint>
#include <string>

namespace hoist::service {

struct SystemUsage {
  double cpu_percent = 0;       // of all CPUs, since the last look, 0 to 100
  double memory_percent = 0;    // of the machine's, what is not available
  uint64_t memory_bytes = 0;    // the same in bytes
  double disk_percent = 0;      // of the file system of the watched folder
  uint64_t resident_bytes = 0;  // of this process
};

// One thread at a time.
class SystemWatch {
 public:
  explicit SystemWatch(std::string folder) : folder_(std::move(folder)) {}
  // What cannot be read is 0.
  SystemUsage look();

 private:
  std::string folder_;
  uint64_t busy_ = 0;  // ticks of all CPUs at the last look
  uint64_t all_ = 0;
};

}  // namespace hoist::service
