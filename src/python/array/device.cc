// Memory of GPUs, and copies from, to and within all kinds of memory.
#include <algorithm>

#include "array/copy.h"
#include "device/stream.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::DeviceId;
using array::DeviceKind;
using array::View;

// Copies that take so many bytes let other threads go on.
constexpr uint64_t kLong = uint64_t{1} << 20;

bool is_on_cpu(const Array& array) { return array.view.device.kind == DeviceKind::cpu; }

bool is_same(const View& a, const View& b) {
  return a.data == b.data && a.dtype == b.dtype && a.strides == b.strides;
}

void copy_on_cpu(const View& from, const View& to) {
  if (to.bytes() < kLong) return copy_elements(from, to);
  const ReleasedGil released;
  copy_elements(from, to);
}

void copy_bytes(device::Device& device, void* to, const void* from, size_t bytes,
                device::StreamHandle stream) {
  if (bytes == 0) return;
  Status done;
  {
    const ReleasedGil released;
    done = device.copy(to, from, bytes, stream);
    // Elements in pageable memory may be dropped as soon as this returns.
    if (done && stream.pointer != nullptr) done = device.synchronize(stream);
  }
  check(done);
}

// Row-major, whose bytes can be copied as they are.
void check_whole(const Array& array) {
  if (array.is_contiguous) return;
  raise({ErrorCode::unsupported, "a part with gaps of an array of " +
                                     device_name(array.view.device) +
                                     ": copy the whole array by to_device(\"cpu\")"});
}

}  // namespace

device::Device& device_of(DeviceId id) {
  return id.kind == DeviceKind::cpu ? device::cpu_device() : *value(device::cuda_device(id.index));
}

std::shared_ptr<std::byte> device_memory(DeviceId id, size_t bytes) {
  device::Device& device = device_of(id);
  void* const data = value(device.allocate(std::max<size_t>(bytes, 1), {}));
  return {static_cast<std::byte*>(data), [&device](std::byte* at) { device.free(at, {}); }};
}

Array on_device(const Array& given, DeviceId id, device::StreamHandle stream) {
  if (id.kind == DeviceKind::cpu && is_on_cpu(given)) return given;
  const Array array = is_on_cpu(given) && !given.is_contiguous ? copy_on_cpu(given) : given;
  check_whole(array);
  Array copy = new_array(array.view.dtype, array.view.shape(), id);
  device::Device& device = device_of(is_on_cpu(array) ? id : array.view.device);
  copy_bytes(device, copy.view.data, array.view.data, array.view.bytes(), stream);
  return copy;
}

void copy_into(const Array& from, const Array& to) {
  if (is_on_cpu(from) && is_on_cpu(to)) {
    if (array::may_overlap(from.view, to.view) && !is_same(from.view, to.view)) {
      const Array apart = new_array(from.view.dtype, from.view.shape());
      copy_on_cpu(from.view, apart.view);
      return copy_on_cpu(apart.view, to.view);
    }
    return copy_on_cpu(from.view, to.view);
  }
  if (is_on_cpu(to)) {
    check_whole(from);
    const Array here = on_device(from, {}, {});
    return copy_on_cpu(here.view, to.view);
  }
  check_whole(to);
  if (is_on_cpu(from) || from.view.dtype != to.view.dtype || !from.is_contiguous) {
    // Row-major, of the same type.
    const Array here = converted(from, to.view.dtype);
    return copy_bytes(device_of(to.view.device), to.view.data, here.view.data, here.view.bytes(),
                      {});
  }
  copy_bytes(device_of(from.view.device), to.view.data, from.view.data, from.view.bytes(), {});
}

}  // namespace hoist::python
