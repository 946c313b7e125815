// A CUDA GPU behind device/device.h, through the plug-in (device/cuda_plugin.h).
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/fork.h"
#include "device/cuda_calls.h"
#include "device/device.h"

namespace hoist::device {

class CudaDevice : public Device {
 public:
  CudaDevice(DeviceProperties properties, const CudaCalls& calls);

  Status status() const override;
  bool can_access(const Device& peer) const override;
  Status allow_access(const Device& peer) override;

  Result<StreamHandle> create_stream() override;
  void destroy(StreamHandle stream) override;
  Status synchronize(StreamHandle stream) override;
  Status call(StreamHandle stream, std::function<void()> function) override;

  Result<EventHandle> create_event() override;
  void destroy(EventHandle event) override;
  Status record(EventHandle event, StreamHandle stream) override;
  Status wait(StreamHandle stream, EventHandle event) override;
  Result<bool> is_done(EventHandle event) override;
  Status synchronize(EventHandle event) override;

  Result<void*> allocate(size_t size, StreamHandle stream) override;
  void free(void* data, StreamHandle stream) override;
  Status trim() override;
  Result<DeviceMemory> memory() override;
  Status copy(void* to, const void* from, size_t size, StreamHandle stream) override;
  Status fill(void* data, std::byte value, size_t size, StreamHandle stream) override;

  Status write_value(uint32_t* word, uint32_t value, StreamHandle stream) override;
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override;

  Status pin(void* data, size_t size) override;
  Status unpin(void* data) override;
  bool is_pinned(const void* data, size_t size) const override;

 private:
  // The answer where the device works; remembers an error that it does not recover from.
  template <typename... Parameters, typename... Arguments>
  Status ask(int (*function)(int, Parameters...), std::string_view what, Arguments... arguments);
  Status judge(int error, std::string_view what);

  const CudaCalls& calls_;
  std::atomic<bool> lost_ = false;
  const OwnerProcess process_;  // contexts do not work in its children
  mutable std::mutex mutex_;
  std::string why_;  // lost
};

}  // namespace hoist::device
