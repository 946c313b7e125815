// How a job of match kernels comes to a stream of any device.
#pragma once

#include <string_view>

#include "device/cuda_plugin.h"
#include "device/stream.h"

namespace hoist::match {

// On a CPU device calls `on_host` with the job, on a CUDA device the plug-in's `function`. `what`
// names the work in errors.
template <typename Job, typename OnHost>
Status enqueue_job(device::Stream& stream, const Job& job, const OnHost& on_host,
                   const char* function, std::string_view what) {
  const device::DeviceProperties& properties = stream.device().properties();
  if (properties.kind == device::DeviceKind::cpu) {
    return stream.call([job, on_host] { on_host(job); });
  }
  if (properties.kind != device::DeviceKind::cuda) {
    return fail(ErrorCode::unsupported,
                std::string(what) + ": the device is neither the CPU nor a GPU");
  }
  using Launch = int(int device, void* stream, const Job* job);
  const Result<Launch*> launch = device::cuda_function<Launch>(function);
  if (!launch) return launch.error();
  return device::cuda_status((*launch)(properties.index, stream.handle().pointer, &job), what);
}

}  // namespace hoist::match
