#include "device/cuda_memory.h"

#include "device/cuda_plugin.h"

namespace hoist::device {
namespace {

// Calls a function of the plug-in that gives a cudaError_t.
template <typename... Parameters, typename... Arguments>
Status call(const char* name, std::string_view what, Arguments... arguments) {
  const auto function = cuda_function<int(Parameters...)>(name);
  if (!function) return function.error();
  return cuda_status((*function)(arguments...), what);
}

}  // namespace

Result<Buffer> allocate_on_cuda(size_t size) {
  const Result<Device*> device = cuda_device();
  if (!device) return device.error();
  return Buffer::allocate(**device, size);
}

Result<Buffer> copy_to_cuda(std::span<const std::byte> bytes) {
  const Result<Device*> device = cuda_device();
  if (!device) return device.error();
  return Buffer::copy_of(**device, bytes);
}

Status cuda_synchronize() { return call<>("hoist_cuda_synchronize", "wait for the device"); }

Result<CudaTimer> CudaTimer::create() {
  CudaTimer timer(nullptr, nullptr);
  for (void** event : {&timer.begin_, &timer.end_}) {
    Status done = call<void**>("hoist_cuda_event_create", "create an event", event);
    if (!done) return done.error();
  }
  return timer;
}

CudaTimer::~CudaTimer() {
  for (void* event : {begin_, end_}) {
    if (event != nullptr) (void)call<void*>("hoist_cuda_event_destroy", "destroy an event", event);
  }
}

Status CudaTimer::start() {
  return call<void*>("hoist_cuda_event_record", "record an event", begin_);
}

Result<double> CudaTimer::stop() {
  Status done = call<void*>("hoist_cuda_event_record", "record an event", end_);
  float milliseconds = 0;
  if (done) {
    done = call<void*, void*, float*>("hoist_cuda_event_elapsed", "read the time", begin_, end_,
                                      &milliseconds);
  }
  if (!done) return done.error();
  return milliseconds / 1e3;
}

}  // namespace hoist::device
