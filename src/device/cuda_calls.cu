#include <cuda.h>
#include <cuda_runtime.h>

#include <map>
#include <mutex>

#include "device/copy_kernel_launch.h"
#include "device/cuda_calls.h"
#include "device/driver_entry.h"
#include "device/on_device.h"

namespace hoist::device {
namespace {

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

// The device's pool, which lives as long as the process. It is our own, since freed memory stays
// with it (giving that back at every synchronisation costs more than the operations that the pool
// is for), and the default one with its settings is the program's.
cudaError_t find_pool(int device, cudaMemPool_t* pool) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(mutex);
  if (const auto found = pools.find(device); found != pools.end()) {
    *pool = found->second;
    return cudaSuccess;
  }
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaError_t error = cudaMemPoolCreate(pool, &properties);
  if (error != cudaSuccess) return error;
  unsigned long long keep = ~0ull;
  error = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep);
  if (error == cudaSuccess) {
    pools[device] = *pool;
  } else {
    (void)cudaMemPoolDestroy(*pool);
  }
  return error;
}

int stream_create(int device, void** stream) {
  return on_device(device, [&] {
    return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream),
                                     cudaStreamNonBlocking);
  });
}

int stream_destroy(int device, void* stream) {
  return on_device(device, [&] { return cudaStreamDestroy(stream_of(stream)); });
}

int stream_synchronize(int device, void* stream) {
  return on_device(device, [&] { return cudaStreamSynchronize(stream_of(stream)); });
}

int stream_wait_event(int device, void* stream, void* event) {
  return on_device(device, [&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event)); });
}

int stream_call(int device, void* stream, void (*function)(void*), void* argument) {
  return on_device(device,
                   [&] { return cudaLaunchHostFunc(stream_of(stream), function, argument); });
}

int event_create(int device, void** event) {
  return on_device(device, [&] {
    return cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event),
                                    cudaEventDisableTiming | cudaEventBlockingSync);
  });
}

int event_destroy(int device, void* event) {
  return on_device(device, [&] { return cudaEventDestroy(event_of(event)); });
}

int event_record(int device, void* event, void* stream) {
  return on_device(device, [&] { return cudaEventRecord(event_of(event), stream_of(stream)); });
}

int event_synchronize(int device, void* event) {
  return on_device(device, [&] { return cudaEventSynchronize(event_of(event)); });
}

int event_done(int device, void* event, bool* done) {
  return on_device(device, [&] {
    const cudaError_t error = cudaEventQuery(event_of(event));
    *done = error == cudaSuccess;
    return error == cudaErrorNotReady ? cudaSuccess : error;
  });
}

int allocate(int device, void** data, size_t size, void* stream) {
  return on_device(device, [&] {
    if (stream == nullptr) return cudaMalloc(data, size);
    cudaMemPool_t pool = nullptr;
    cudaError_t error = find_pool(device, &pool);
    if (error != cudaSuccess) return error;
    error = cudaMallocFromPoolAsync(data, size, pool, stream_of(stream));
    if (error != cudaErrorMemoryAllocation) return error;
    // Memory that the pool keeps may not be in one piece.
    (void)cudaStreamSynchronize(stream_of(stream));
    (void)cudaMemPoolTrimTo(pool, 0);
    (void)cudaGetLastError();
    return cudaMallocFromPoolAsync(data, size, pool, stream_of(stream));
  });
}

// What the pool keeps and nobody has. To the pool memory is free once the runtime has seen that the
// stream came to its end, which waiting for a word of pinned memory does not tell it.
int trim(int device) {
  return on_device(device, [&] {
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return error;
    cudaMemPool_t pool = nullptr;
    error = find_pool(device, &pool);
    if (error == cudaErrorNotSupported) return cudaSuccess;
    return error != cudaSuccess ? error : cudaMemPoolTrimTo(pool, 0);
  });
}

int memory(int device, size_t* unused, size_t* total) {
  *total = 0;
  if (!has_context(device)) return cudaSuccess;
  return on_device(device, [&] { return cudaMemGetInfo(unused, total); });
}

int free_memory(int device, void* data, void* stream) {
  return on_device(device, [&] {
    return stream == nullptr ? cudaFree(data) : cudaFreeAsync(data, stream_of(stream));
  });
}

// The direction follows from the pointers (unified virtual addressing).
int copy(int device, void* to, const void* from, size_t size, void* stream) {
  return on_device(device, [&] {
    if (stream != nullptr) {
      return cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream_of(stream));
    }
    const cudaError_t error = cudaMemcpy(to, from, size, cudaMemcpyDefault);
    // The end of pageable memory may still be on its way from the driver's own buffer, a copy from
    // device to device has only begun, and other streams wait for neither (CUDA's "API
    // synchronization behavior").
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
  });
}

int fill(int device, void* data, int value, size_t size, void* stream) {
  return on_device(device, [&] {
    if (stream != nullptr) return cudaMemsetAsync(data, value, size, stream_of(stream));
    const cudaError_t error = cudaMemset(data, value, size);
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
  });
}

int write_value(int device, uint32_t* word, uint32_t value, void* stream) {
  static const auto write = HOIST_DRIVER_ENTRY(cuStreamWriteValue32);
  if (write == nullptr) return cudaErrorNotSupported;
  return on_device(device, [&] {
    const cudaError_t error = sees_host_addresses(device);
    if (error != cudaSuccess) return static_cast<int>(error);
    return static_cast<int>(write(stream_of(stream), reinterpret_cast<CUdeviceptr>(word), value,
                                  CU_STREAM_WRITE_VALUE_DEFAULT));
  });
}

int pin(int device, void* data, size_t size) {
  return on_device(device, [&] {
    return cudaHostRegister(data, size, cudaHostRegisterPortable | cudaHostRegisterMapped);
  });
}

int unpin(int device, void* data) {
  return on_device(device, [&] { return cudaHostUnregister(data); });
}

int is_pinned(int device, const void* data, bool* pinned) {
  return on_device(device, [&] {
    cudaPointerAttributes attributes{};
    const cudaError_t error = cudaPointerGetAttributes(&attributes, data);
    *pinned = attributes.type == cudaMemoryTypeHost;
    return error;
  });
}

int allow_access(int device, int peer) {
  return on_device(device, [&] {
    cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled) return error;
    (void)cudaGetLastError();
    // Pools have access rights of their own.
    cudaMemPool_t pool = nullptr;
    error = find_pool(peer, &pool);
    if (error != cudaSuccess) return error;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    return cudaMemPoolSetAccess(pool, &access, 1);
  });
}

bool is_sticky(int error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnknown:
    case 226:  // cudaErrorContained; these by number, as older toolkits have no names for them
    case 721:  // cudaErrorTensorMemoryLeak
    case 810:  // cudaErrorMpsClientTerminated
    case 911:  // cudaErrorExternalDevice
      return true;
    default:
      return false;
  }
}

constexpr CudaCalls kCalls = {
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait_event = stream_wait_event,
    .stream_call = stream_call,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_done = event_done,
    .allocate = allocate,
    .free = free_memory,
    .trim = trim,
    .memory = memory,
    .copy = copy,
    .fill = fill,
    .write_value = write_value,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .allow_access = allow_access,
    .is_sticky = is_sticky,
    .copy_kernel = launch_copy_kernel,
};

}  // namespace
}  // namespace hoist::device

extern "C" {

const hoist::device::CudaCalls* hoist_cuda_calls() { return &hoist::device::kCalls; }

// The CUDA version that this plug-in needs of a driver, as CUDART_VERSION.
int hoist_cuda_runtime_version() { return CUDART_VERSION; }

}  // extern "C"
