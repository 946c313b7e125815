// Work of several kernels and copies, recorded once and launched as one (a CUDA graph): a launch
// costs little more than one kernel's.
//
//   Result<CapturedWork> work = CapturedWork::capture(device, [&](const Stream& stream) {
//     return first.launch(stream, …) && second.launch(stream, …);
//   });
//   Status launched = work->launch(stream);
//
// The function puts work on the stream that it is given, and does nothing else with the device; the
// work keeps its arguments, addresses included. Launches of one CapturedWork run one after another.
// Thread-safe but for the destruction, which leaves launches under way to their end.
//
// Errors: `unsupported` on a device that is no CUDA GPU, else those of device/kernel.h and of the
// function.
#pragma once

#include <functional>
#include <utility>

#include "device/stream.h"

namespace hoist::device {

class CapturedWork {
 public:
  static Result<CapturedWork> capture(Device& device,
                                      const std::function<Status(const Stream&)>& enqueue);
  CapturedWork(CapturedWork&& other) noexcept
      : device_(other.device_), work_(std::exchange(other.work_, nullptr)) {}
  CapturedWork& operator=(CapturedWork&& other) noexcept;
  ~CapturedWork();

  Status launch(const Stream& stream) const;

 private:
  CapturedWork(Device& device, void* work) : device_(&device), work_(work) {}

  Device* device_;
  void* work_;
};

// Whether what is put on the stream is being recorded, by whomever.
Result<bool> is_being_captured(const Stream& stream);

}  // namespace hoist::device
