#include "device/captured_work.h"

#include "device/kernel.h"

namespace hoist::device {
namespace {

constinit const Kernel<> begin_capture("hoist_cuda_capture_begin", "begin to record work");
constinit const Kernel<void**> end_capture("hoist_cuda_capture_end", "record work");
constinit const Kernel<void*> launch_work("hoist_cuda_capture_launch", "launch recorded work");
constinit const Kernel<void*> destroy_work("hoist_cuda_capture_destroy", "drop recorded work");
constinit const Kernel<int*> capture_status("hoist_cuda_capture_status",
                                            "ask whether work is recorded");

}  // namespace

Result<CapturedWork> CapturedWork::capture(Device& device,
                                           const std::function<Status(const Stream&)>& enqueue) {
  if (Status can = begin_capture.check(device); !can) return can.error();
  const Result<Stream> stream = Stream::create(device);
  if (!stream) return stream.error();
  if (Status begun = begin_capture.launch(*stream); !begun) return begun.error();
  const Status enqueued = enqueue(*stream);
  void* work = nullptr;
  const Status ended = end_capture.launch(*stream, enqueued ? &work : nullptr);
  if (!enqueued) return enqueued.error();
  if (!ended) return ended.error();
  return CapturedWork(device, work);
}

CapturedWork& CapturedWork::operator=(CapturedWork&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(work_, other.work_);
  return *this;
}

CapturedWork::~CapturedWork() {
  if (work_ != nullptr) (void)destroy_work.launch(*device_, {}, work_);
}

Status CapturedWork::launch(const Stream& stream) const {
  return launch_work.launch(stream, work_);
}

Result<bool> is_being_captured(const Stream& stream) {
  int captures = 0;
  const Status asked = capture_status.launch(stream, &captures);
  if (!asked) return asked.error();
  return captures != 0;
}

}  // namespace hoist::device
