// Programs on the arrays of a GPU.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>

#include "array/view.h"
#include "device/device.h"
#include "python/graph_program.h"

namespace hoist::python {

// The GPU that one of the arrays lies on; none: they lie on the CPU.
std::optional<array::DeviceId> gpu_of(nanobind::handle arrays);

// GraphProgram::run() of arrays on a GPU, which all must lie on that one. Results are Arrays there.
nanobind::tuple run_on_gpu(const GraphProgram& program, nanobind::sequence arrays,
                           nanobind::object outs, array::DeviceId device);

// Puts the program's work on the stream: all of what programs on GPUs are goes in here. Views are
// row-major, on that device, and of the program's types and shapes.
Status enqueue_on_gpu(const GraphProgram& program, device::Device& device,
                      device::StreamHandle stream, std::span<const array::View> inputs,
                      std::span<const array::View> outputs);

}  // namespace hoist::python
