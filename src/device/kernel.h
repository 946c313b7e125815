// How a kernel of the CUDA plug-in (device/cuda_plugin.h) is launched. Each is one constant object:
//
//   constinit const Kernel<const void*, uint64_t, void*> negate("hoist_cuda_negate", "negation");
//   Status launched = negate.launch(stream, in, count, out);
//
// The plug-in's function is extern "C" and puts its work on the stream that it is told:
//
//   int hoist_cuda_negate(int device, void* stream, const void* in, uint64_t count, void* out);
//
// It gives a cudaError_t. The function is looked up once in a process. Thread-safe.
//
// Errors: `unsupported` on a device that is no CUDA GPU, `unavailable` where the plug-in is, or
// where the device was lost, also in a child of a process that has loaded the plug-in; else what
// the launch says.
//
// Code that is made while the program runs is a Module (device/module.h).
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "device/cuda_plugin.h"
#include "device/stream.h"

namespace hoist::device {

// A function of the plug-in, and what it does, for errors.
class PluginFunction {
 public:
  constexpr PluginFunction(const char* name, const char* what) : name_(name), what_(what) {}
  PluginFunction(const PluginFunction&) = delete;
  PluginFunction& operator=(const PluginFunction&) = delete;

  const char* what() const { return what_; }
  // The function, for a call on `device` now: an answer is not kept, since a child after fork() is
  // refused.
  Result<void*> find(const Device& device) const;

 private:
  const char* const name_;
  const char* const what_;
  mutable std::atomic<void*> found_ = nullptr;
};

// Calls `work` in the stream's order; without a stream, which only the CPU device allows, at once.
Status run_on_host(Device& device, StreamHandle stream, std::function<void()> work);

template <typename... Parameters>
class Kernel {
 public:
  constexpr Kernel(const char* function, const char* what) : function_(function, what) {}

  Status launch(Device& device, StreamHandle stream,
                std::type_identity_t<Parameters>... arguments) const {
    const Result<int> error = call(device, stream, arguments...);
    if (!error) return error.error();
    return cuda_status(*error, function_.what());
  }
  Status launch(const Stream& stream, std::type_identity_t<Parameters>... arguments) const {
    return launch(stream.device(), stream.handle(), arguments...);
  }

  // The same work on any device: on the CPU device `on_host` is called in the stream's order. It
  // owns what it uses.
  template <std::invocable OnHost>
  Status launch_or_run(const Stream& stream, OnHost&& on_host,
                       std::type_identity_t<Parameters>... arguments) const {
    if (stream.device().properties().kind == DeviceKind::cpu) {
      return run_on_host(stream.device(), stream.handle(), std::forward<OnHost>(on_host));
    }
    return launch(stream, arguments...);
  }

  // Whether the device has it: what a launch would be refused with.
  Status check(const Device& device) const {
    const Result<void*> found = function_.find(device);
    if (!found) return found.error();
    return {};
  }

  // What the function answers, where that may be more than a cudaError_t.
  Result<int> call(Device& device, StreamHandle stream,
                   std::type_identity_t<Parameters>... arguments) const {
    using Function = int(int device, void* stream, Parameters...);
    const Result<void*> found = function_.find(device);
    if (!found) return found.error();
    return reinterpret_cast<Function*>(*found)(device.properties().index, stream.pointer,
                                               arguments...);
  }

 private:
  PluginFunction function_;
};

}  // namespace hoist::device
