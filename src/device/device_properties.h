// What is known of a device without using it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hoist::device {

enum class DeviceKind { cpu, cuda, remote };  // remote: hoistd's (device/remote)

struct DeviceProperties {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;  // among those of its kind
  std::string name;
  uint64_t memory = 0;      // bytes; 0: not known
  int compute_major = 0;    // compute capability; 0 for the CPU
  int compute_minor = 0;    //
  int multiprocessors = 0;  // 0 for the CPU
  std::string pci_bus_id;   // "0000:18:00.0"; empty for the CPU
  int numa_node = -1;       // that it hangs at; -1: not known, or all
  bool exclusive = false;   // for one process at a time (nvidia-smi --compute-mode)
  bool slice = false;       // a MIG slice of a GPU, with memory and multiprocessors of its own
  std::vector<int> peers;   // CUDA devices whose memory it can use directly

  // "cpu", "cuda:0", "remote"
  std::string id() const;
};

}  // namespace hoist::device
