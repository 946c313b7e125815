// Recorded work as CUDA graphs.
#include "device/on_device.h"

namespace {

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

extern "C" {

using hoist::device::on_device;

// Relaxed: other threads, and loading of code, are not hindered.
int hoist_cuda_capture_begin(int device, void* stream) {
  return on_device(device, [=] {
    return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeRelaxed);
  });
}

// Without `work` what was recorded is dropped.
int hoist_cuda_capture_end(int device, void* stream, void** work) {
  return on_device(device, [=] {
    cudaGraph_t graph = nullptr;
    cudaError_t error = cudaStreamEndCapture(stream_of(stream), &graph);
    if (error != cudaSuccess || graph == nullptr) {
      return error == cudaSuccess ? cudaErrorStreamCaptureInvalidated : error;
    }
    cudaGraphExec_t made = nullptr;
    if (work != nullptr) {
      error = cudaGraphInstantiate(&made, graph, 0);
      *work = made;
    }
    (void)cudaGraphDestroy(graph);
    return error;
  });
}

int hoist_cuda_capture_launch(int device, void* stream, void* work) {
  return on_device(device, [=] {
    return cudaGraphLaunch(static_cast<cudaGraphExec_t>(work), stream_of(stream));
  });
}

int hoist_cuda_capture_destroy(int device, void*, void* work) {
  return on_device(device,
                   [=] { return cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(work)); });
}

int hoist_cuda_capture_status(int device, void* stream, int* captures) {
  return on_device(device, [=] {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream_of(stream), &status);
    *captures = status != cudaStreamCaptureStatusNone ? 1 : 0;
    return error;
  });
}

}  // extern "C"
