// Kernels of px files that are compiled when Hoist is built: C++ for the CPU into the operation's
// library, CUDA into the plug-in. In the operation's CMakeLists.txt:
//
//   hoist_px(hoist_primitives vectors.px)              # cmake/hoist_px.cmake
//
// makes "ops/primitives/vectors.px.h", which has for each kernel a function that launches it:
//
//   namespace hoist::px::kernels {
//   Status saxpy(const device::StreamView& stream, const ir::Grid& grid, float a,
//                std::span<const float> x, std::span<float> y);
//   }
//
// Arrays lie in memory of the stream's device. The launch is enqueued and returns; on the CPU
// device all cores run it. Nothing is checked here but the device: the operation that calls it sees
// to it that the grid, the lengths and the alignment are what the kernel needs. Thread-safe.
//
// Errors: `unsupported` on a device that is neither the CPU nor a CUDA GPU; those of
// device::Kernel.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "device/kernel.h"
#include "device/stream_view.h"
#include "ir/launch.h"
#include "px/compile/cpu_module.h"

namespace hoist::px {

class BuiltInKernel {
 public:
  // `arrays`: bit i says that argument i is an array.
  constexpr BuiltInKernel(const char* cuda_function, const char* what, CpuKernel* on_cpu,
                          uint64_t arrays)
      : on_gpu_(cuda_function, what), on_cpu_(on_cpu), arrays_(arrays) {}

  Status launch(const device::StreamView& stream, const ir::Grid& grid,
                std::span<const ir::Argument> arguments) const;

 private:
  // The grid's six numbers, and where each value of the arguments lies: an array is its address and
  // its length.
  device::Kernel<const uint32_t*, void**> on_gpu_;
  CpuKernel* const on_cpu_;
  const uint64_t arrays_;
};

template <typename T>
ir::Argument argument_of(std::span<T> array) {
  return ir::Argument::array(const_cast<std::remove_const_t<T>*>(array.data()), array.size());
}

template <typename T>
requires std::is_arithmetic_v<T> ir::Argument argument_of(T scalar) {
  if constexpr (std::same_as<T, float>) {
    return ir::Argument::scalar(std::bit_cast<uint32_t>(scalar));
  } else if constexpr (std::same_as<T, double>) {
    return ir::Argument::scalar(std::bit_cast<uint64_t>(scalar));
  } else if constexpr (std::same_as<T, bool>) {
    return ir::Argument::scalar(scalar ? 1 : 0);
  } else {
    return ir::Argument::scalar(static_cast<std::make_unsigned_t<T>>(scalar));
  }
}

}  // namespace hoist::px
