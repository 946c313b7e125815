// The CPU as a device: its memory is host memory, a stream is a thread with a queue. Every engine
// runs on it, as an oracle and where there is no GPU; it is not meant to be fast.
#pragma once

#include "device/device.h"

namespace hoist::device {

class CpuDevice : public Device {
 public:
  CpuDevice();

  Status status() const override { return {}; }
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
  Status copy(void* to, const void* from, size_t size, StreamHandle stream) override;
  Status fill(void* data, std::byte value, size_t size, StreamHandle stream) override;

  Status write_value(uint32_t* word, uint32_t value, StreamHandle stream) override;
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override;

  // Nothing to lock: no hardware reads past the page tables.
  Status pin(void* data, size_t size) override { return {}; }
  Status unpin(void* data) override { return {}; }
  bool is_pinned(const void* data, size_t size) const override { return false; }
};

}  // namespace hoist::device
