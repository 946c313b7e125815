// What hoistd says of itself: JSON for --status, text for Prometheus.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/statistics.h"
#include "device/device_properties.h"

namespace hoist::daemon {

struct ClientReport {
  pid_t pid;
  uid_t uid;
  std::string name;
  uint64_t pool_bytes;
  uint64_t buffers;
  uint64_t device_bytes;
  uint32_t queues;
  uint64_t requests;
  bool ending;  // it is gone; its memory stays until the device has finished with it
};

struct Report {
  const device::DeviceProperties& device;
  const Statistics& statistics;
  double uptime_seconds;
  uint64_t pool_limit;
  uint64_t memory_limit;       // of a client
  uint64_t user_memory_limit;  // of all clients of a user; UINT64_MAX: as much as there is
  std::vector<ClientReport> clients;
};

// `only_of`: leaves other users' clients out of the list, not out of the sums; null: lists all.
std::string to_json(const Report& report, const uid_t* only_of);
// The text exposition format, version 0.0.4.
std::string to_metrics(const Report& report);
// to_json()'s text for people; `corrupt` where it is none.
Result<std::string> to_text(const std::string& json);

}  // namespace hoist::daemon
