#include "device/cuda_memory.h"

#include "device/kernel.h"

namespace hoist::device {
namespace {

constinit const Kernel<void**> create_event("hoist_cuda_event_create", "create an event");
constinit const Kernel<void*> destroy_event("hoist_cuda_event_destroy", "destroy an event");
constinit const Kernel<void*> record_event("hoist_cuda_event_record", "record an event");
constinit const Kernel<void*, void*, float*> elapsed("hoist_cuda_event_elapsed", "read the time");

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

Result<Stream> stream_on_cuda() {
  const Result<Device*> device = cuda_device();
  if (!device) return device.error();
  return Stream::create(**device);
}

Result<CudaTimer> CudaTimer::create(const Stream& stream) {
  CudaTimer timer(stream);
  for (void** event : {&timer.begin_, &timer.end_}) {
    if (Status done = create_event.launch(stream, event); !done) return done.error();
  }
  return timer;
}

CudaTimer::~CudaTimer() {
  for (void* event : {begin_, end_}) {
    if (event != nullptr) (void)destroy_event.launch(*stream_, event);
  }
}

Status CudaTimer::start() { return record_event.launch(*stream_, begin_); }

Result<double> CudaTimer::stop() {
  Status done = record_event.launch(*stream_, end_);
  float milliseconds = 0;
  if (done) done = elapsed.launch(*stream_, begin_, end_, &milliseconds);
  if (!done) return done.error();
  return milliseconds / 1e3;
}

}  // namespace hoist::device
