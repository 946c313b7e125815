// Devices that heavy work may run on: the CPU and every CUDA GPU, behind one interface, so that an
// engine that is written for a GPU runs, and is tested, where there is none.
//
//   for (Device* device : devices()) use(device->properties().name);
//   Result<Device*> device = find_device("auto");      // a GPU where one answers, else the CPU
//   Result<Stream> stream = Stream::create(**device);
//   Result<Buffer> buffer = Buffer::allocate(**device, size);
//   Status done = stream->copy(buffer->data(), host, size);  // behind what came before
//
// Stream and Event are in device/stream.h, Buffer and Span in device/buffer.h. Device itself is the
// seam between these and a kind of device; what it takes and gives are handles.
//
// Devices that devices() gives live as long as the process. All functions are thread-safe; a
// stream may be used by several threads at once, an event or buffer by one at a time. Listing
// devices costs the driver's initialisation (some milliseconds); a CUDA context (0.26 s) is made by
// the first stream, event or buffer of that device, so never inside a program that was preloaded,
// and is not usable in a child after fork().
//
// Errors: `unavailable` where there is no such device, or it was lost: after an error that only a
// new process mends (a kernel's illegal address, an uncorrectable memory error, a GPU that fell off
// the bus) every call answers at once with that reason. `exhausted`: out of memory. `internal`: a
// fault in our own code, such as the illegal address itself where it is first seen.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/copy_kernel.h"
#include "device/device_properties.h"

namespace hoist::device {

// What belongs to the device that made it; no pointer: none.
struct StreamHandle {
  void* pointer = nullptr;
};
struct EventHandle {
  void* pointer = nullptr;
};

// Bytes, of all processes.
struct DeviceMemory {
  uint64_t used = 0;
  uint64_t total = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceProperties& properties() const { return properties_; }

  // Whether it still works; else why it was lost.
  virtual Status status() const = 0;

  // Whether work on this device may use memory of `peer` directly; allow_access() makes it so, for
  // all memory that was and will be allocated there.
  virtual bool can_access(const Device& peer) const = 0;
  virtual Status allow_access(const Device& peer) = 0;

  // Work on a stream is done in order. Destroying one lets its work finish.
  virtual Result<StreamHandle> create_stream() = 0;
  virtual void destroy(StreamHandle stream) = 0;
  virtual Status synchronize(StreamHandle stream) = 0;
  // Calls `function` on a thread of the device's; it must not use the device.
  virtual Status call(StreamHandle stream, std::function<void()> function) = 0;

  // An event is done when the work that preceded its last record() is; one never recorded is done.
  // synchronize() blocks; it spins for some microseconds at most.
  virtual Result<EventHandle> create_event() = 0;
  virtual void destroy(EventHandle event) = 0;
  virtual Status record(EventHandle event, StreamHandle stream) = 0;
  virtual Status wait(StreamHandle stream, EventHandle event) = 0;
  virtual Result<bool> is_done(EventHandle event) = 0;
  virtual Status synchronize(EventHandle event) = 0;

  // Memory of the device, at least 256-byte aligned. With a stream it comes from the device's pool,
  // is there for the work that follows on that stream, and is freed behind the work before it.
  virtual Result<void*> allocate(size_t size, StreamHandle stream) = 0;
  virtual void free(void* data, StreamHandle stream) = 0;
  // The pool keeps what was freed, for the next one who asks; this waits for all work and gives
  // what nobody has to other processes.
  virtual Status trim();
  // To ask makes no context: `unavailable` where this process has none on the device. `unsupported`
  // where this kind of device has no memory of its own.
  virtual Result<DeviceMemory> memory();

  // Between any two of this device's, a peer's and host memory. Without a stream it returns when
  // all bytes have arrived. With a stream it returns at once where host memory is pinned.
  virtual Status copy(void* to, const void* from, size_t size, StreamHandle stream) = 0;
  virtual Status fill(void* data, std::byte value, size_t size, StreamHandle stream) = 0;

  // Writes `value` to a word of pinned memory behind the work before it, all of which the host sees
  // that sees the value (Fence in device/fence.h). `unsupported` where this kind of device cannot.
  virtual Status write_value(uint32_t* word, uint32_t value, StreamHandle stream);

  // Enqueues a copy kernel (device/copy_kernel.h), whose memory must stay until it has ended.
  // `unsupported` where this kind of device has none.
  virtual Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream);

  // An operation of hoistd's (device/remote/served_operation.h), in the stream's order; without a
  // stream it is done when this returns. Memory is this device's. `work`: the time that the slowest
  // device needs for it. `unsupported` where the device is this process's own.
  struct Range {
    const void* data;
    uint64_t size;
  };
  virtual Status run_served(StreamHandle stream, uint32_t operation,
                            std::initializer_list<Range> memory,
                            std::initializer_list<uint64_t> arguments,
                            std::chrono::nanoseconds work);

  // Locks host memory, whole pages, so that the device reads and writes it by itself.
  virtual Status pin(void* data, size_t size) = 0;
  virtual Status unpin(void* data) = 0;
  virtual bool is_pinned(const void* data, size_t size) const = 0;

  // Pinned host memory of its own, a multiple of the page size, in huge pages and on the device's
  // NUMA node where that can be. What a lost device may still write stays mapped, and is an error.
  // PinnedPool (device/pinned_pool.h) hands out parts of it.
  virtual Result<void*> allocate_pinned(size_t size);
  virtual Status free_pinned(void* data, size_t size);

 protected:
  explicit Device(DeviceProperties properties) : properties_(std::move(properties)) {}

 private:
  DeviceProperties properties_;
};

// The CPU, then every CUDA device in the driver's order.
std::vector<Device*> devices();

Device& cpu_device();
// `unavailable` without a driver, device or plug-in, or where HOIST or HOIST_GPU switch it off;
// `not_found` where there are fewer.
Result<Device*> cuda_device(int index = 0);

// "cpu", "cuda:N", "cuda" (the first), or "auto": the first CUDA device, else the CPU.
Result<Device*> find_device(std::string_view name);

}  // namespace hoist::device
