// The CUDA runtime as the plug-in hands it out: what CudaDevice is made of. Each call makes
// `device` current for its duration and gives a cudaError_t; streams, events and pointers are the
// runtime's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/copy_kernel.h"

namespace hoist::device {

struct CudaCalls {
  int (*stream_create)(int device, void** stream);
  int (*stream_destroy)(int device, void* stream);
  int (*stream_synchronize)(int device, void* stream);
  int (*stream_wait_event)(int device, void* stream, void* event);
  int (*stream_call)(int device, void* stream, void (*function)(void*), void* argument);

  // Without timing; waiting for one blocks.
  int (*event_create)(int device, void** event);
  int (*event_destroy)(int device, void* event);
  int (*event_record)(int device, void* event, void* stream);
  int (*event_synchronize)(int device, void* event);
  int (*event_done)(int device, void* event, bool* done);

  // Stream null: not stream-ordered (allocate, free), synchronous (copy, fill).
  int (*allocate)(int device, void** data, size_t size, void* stream);
  int (*free)(int device, void* data, void* stream);
  // Waits for the device, and gives memory back that the pool keeps.
  int (*trim)(int device);
  // What no process uses, and all. Without a context on the device it makes none: total 0.
  int (*memory)(int device, size_t* unused, size_t* total);
  int (*copy)(int device, void* to, const void* from, size_t size, void* stream);
  int (*fill)(int device, void* data, int value, size_t size, void* stream);

  // To pinned memory, in the stream's order.
  int (*write_value)(int device, uint32_t* word, uint32_t value, void* stream);

  int (*pin)(int device, void* data, size_t size);
  int (*unpin)(int device, void* data);
  int (*is_pinned)(int device, const void* data, bool* pinned);

  int (*allow_access)(int device, int peer);

  // Whether every later call of this process fails too.
  bool (*is_sticky)(int error);

  // device/copy_kernel_launch.h
  int (*copy_kernel)(int device, const CopyKernel& copy_kernel, void* stream);
};

// The plug-in's entry: const CudaCalls* hoist_cuda_calls().

}  // namespace hoist::device
