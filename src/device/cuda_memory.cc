#include "device/cuda_memory.h"

#include <fmt/core.h>

#include "device/cuda_plugin.h"

namespace hoist::device {
namespace {

// Calls a function of the plug-in that gives a cudaError_t.
template <typename... Parameters, typename... Arguments>
Status call(const char* name, std::string_view what, Arguments... arguments) {
  const auto function = cuda_function<int(Parameters...)>(name);
  if (!function) return tl::unexpected(function.error());
  return cuda_status((*function)(arguments...), what);
}

Status check_range(size_t wanted, size_t offset, size_t size) {
  if (offset <= size && wanted <= size - offset) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{} bytes at {} do not fit (device buffer of {} bytes)", wanted, offset, size));
}

}  // namespace

CudaBuffer& CudaBuffer::operator=(CudaBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

CudaBuffer::~CudaBuffer() {
  if (data_ != nullptr) (void)call<void*>("hoist_cuda_free", "free", data_);
}

Result<CudaBuffer> CudaBuffer::allocate(size_t size) {
  CudaBuffer buffer;
  const size_t at_least_one = size == 0 ? 1 : size;
  Status done = call<void**, size_t>("hoist_cuda_malloc", fmt::format("allocate {} bytes", size),
                                     &buffer.data_, at_least_one);
  if (!done) return tl::unexpected(done.error());
  buffer.size_ = size;
  return buffer;
}

Result<CudaBuffer> CudaBuffer::copy_of(std::span<const std::byte> bytes) {
  Result<CudaBuffer> buffer = allocate(bytes.size());
  if (!buffer) return buffer;
  if (Status done = buffer->upload(bytes); !done) return tl::unexpected(done.error());
  return buffer;
}

Status CudaBuffer::upload(std::span<const std::byte> bytes, size_t offset) {
  if (Status fits = check_range(bytes.size(), offset, size_); !fits) return fits;
  return call<void*, const void*, size_t>("hoist_cuda_copy", "upload",
                                          static_cast<std::byte*>(data_) + offset, bytes.data(),
                                          bytes.size());
}

Status CudaBuffer::download(std::span<std::byte> bytes, size_t offset) const {
  if (Status fits = check_range(bytes.size(), offset, size_); !fits) return fits;
  return call<void*, const void*, size_t>("hoist_cuda_copy", "download", bytes.data(),
                                          static_cast<const std::byte*>(data_) + offset,
                                          bytes.size());
}

Status CudaBuffer::fill(std::byte value) {
  return call<void*, int, size_t>("hoist_cuda_fill", "fill", data_, static_cast<int>(value), size_);
}

Status cuda_synchronize() { return call<>("hoist_cuda_synchronize", "wait for the device"); }

Result<CudaTimer> CudaTimer::create() {
  CudaTimer timer(nullptr, nullptr);
  for (void** event : {&timer.begin_, &timer.end_}) {
    Status done = call<void**>("hoist_cuda_event_create", "create an event", event);
    if (!done) return tl::unexpected(done.error());
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
  if (!done) return tl::unexpected(done.error());
  return milliseconds / 1e3;
}

}  // namespace hoist::device
