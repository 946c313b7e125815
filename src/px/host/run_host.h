// Runs the host's part of a file on a device.
//
//   HostValues values;
//   values.scalars[host.find_scalar("n")] = 1000;          // bits of its type
//   values.arrays[host.find_array("a")] = {bytes, 1000};   // host memory, and elements
//   Result<HostReport> report = run_host(host, values, stream, launch);
//
// Arrays go to the device before the first launch that takes them, and come back in the end where a
// kernel wrote them. Each scalar and each array that GPU_ALLOC does not make needs a value.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/stream.h"
#include "ir/launch.h"
#include "px/host/host_program.h"

namespace hoist::px {

struct HostMemory {
  std::span<std::byte> bytes;
  uint64_t length = 0;  // in elements
};

struct HostValues {
  std::map<const HostArray*, HostMemory> arrays;
  std::map<const HostScalar*, uint64_t> scalars;
};

// Launches a kernel on the stream. The arrays of the arguments are memory of the stream's device.
// Gives the fault that the launch is known to have found; with checked bounds it waits for the end.
using LaunchKernel = std::function<Result<std::optional<ir::Fault>>(
    const ir::Kernel& kernel, const ir::Grid& grid, std::span<const ir::Argument> arguments)>;

struct HostReport {
  struct Launch {
    std::string kernel;
    uint64_t blocks = 0;
    uint32_t threads = 0;  // of a block
    double milliseconds = 0;
  };
  std::vector<Launch> launches;
  double copy_milliseconds = 0;
  std::optional<ir::Fault> fault;  // the first; what stands behind it was not run
};

// `invalid_argument` for what the values make impossible: a negative count, too many threads, a
// copy beyond an array's end. The messages name the line.
Result<HostReport> run_host(const HostProgram& program, HostValues& values, device::Stream& stream,
                            const LaunchKernel& launch, const Source& source);

// What run_host() would do, without memory or a device: `use` is told each launch, with arrays that
// are null and have their lengths, and copies are counted. Ends after `most` launches.
struct HostRehearsal {
  uint64_t launches = 0;
  uint64_t bytes_copied = 0;  // to a GPU and back
  bool is_whole = true;       // no: there are more launches
};
using UseLaunch = std::function<void(const ir::Kernel& kernel, const ir::Grid& grid,
                                     std::span<const ir::Argument> arguments)>;
Result<HostRehearsal> rehearse_host(const HostProgram& program, HostValues& values,
                                    const UseLaunch& use, uint64_t most, const Source& source);

}  // namespace hoist::px
