#include "python/graph_gpu.h"

#include <algorithm>

#include "device/buffer.h"
#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_gpu_arrays.h"
#include "python/graph_program.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

[[noreturn]] void refuse(const std::string& message) {
  raise({ErrorCode::invalid_argument, message});
}

std::string place_of(int gpu) { return "cuda:" + std::to_string(gpu); }

void check_fit(const GpuArray& array, const gp::Node& node, const std::string& who,
               const char* wanted) {
  if (array.dtype == node.dtype && array.shape == node.shape) return;
  refuse(who + " is " + graph_dtype_name(array.dtype) + " of shape " + gp::text_of(array.shape) +
         ": " + wanted + " " + graph_dtype_name(node.dtype) + " of shape " +
         gp::text_of(node.shape));
}

GpuArray input_of(nb::handle object, const gp::Node& node, const std::string& who) {
  GpuArray array = gpu_array(object, who);
  check_fit(array, node, who, "the program was traced for");
  if (array.is_contiguous) return array;
  if (!nb::hasattr(object, "contiguous")) {
    raise({ErrorCode::unsupported, who + " has gaps: give a contiguous array"});
  }
  return gpu_array(object.attr("contiguous")(), who);
}

GpuArray output_of(nb::handle object, const gp::Node& node) {
  if (!is_on_gpu(object)) refuse("out does not lie on the GPU that the arguments lie on: move it");
  GpuArray array = gpu_array(object, "out");
  check_fit(array, node, "out", "the result is");
  if (!array.is_contiguous) refuse("out has gaps: give a contiguous array");
  if (array.is_read_only) refuse("out is read-only: give one that may be written");
  return array;
}

}  // namespace

graph::gpu::GpuProgram& GraphGpu::on(const gp::Program& program, int gpu) {
  if (const auto found = programs_.find(gpu); found != programs_.end()) return *found->second;
  auto made = [&]() -> Result<std::shared_ptr<graph::gpu::GpuProgram>> {
    const ReleasedGil released;
    const Result<device::Device*> device = device::cuda_device(gpu);
    if (!device) return device.error();
    return graph::gpu::GpuProgram::compile(program.graph(), **device);
  }();
  // Another thread may have been faster.
  return *programs_.try_emplace(gpu, value(std::move(made))).first->second;
}

nb::list GraphGpu::report() const {
  nb::list all;
  for (const auto& [gpu, program] : programs_) {
    all.append(nb::make_tuple(nb::str(place_of(gpu).c_str()), program->launches(),
                              program->arena_bytes(), program->replays()));
  }
  return all;
}

nb::tuple run_on_gpu(const GraphProgram& program, nb::sequence arrays, nb::object outs) {
  const gp::Program& of = *program.program;
  std::vector<GpuArray> given;
  std::vector<const void*> from;
  std::vector<std::pair<size_t, const Array*>> numbers;  // beside arrays
  for (size_t i = 0; i < of.inputs(); ++i) {
    const nb::object object = arrays[i];
    const std::string who = "input " + std::to_string(i);
    from.push_back(nullptr);
    const Array* const number = array_of(object.ptr());
    if (number != nullptr && number->view.rank == 0 && of.input(i).shape.empty() &&
        number->view.dtype == of.input(i).dtype && !is_on_gpu(object)) {
      numbers.emplace_back(i, number);
      continue;
    }
    if (!is_on_gpu(object)) {
      refuse(who + " does not lie on a GPU, as others do: move all to one device");
    }
    given.push_back(input_of(object, of.input(i), who));
    from.back() = given.back().data;
    if (given.back().gpu != given.front().gpu) {
      refuse(who + " lies on " + place_of(given.back().gpu) + ", others on " +
             place_of(given.front().gpu) + ": move all to one device");
    }
  }
  std::vector<GpuArray> results;
  std::vector<void*> to;
  nb::list list;
  for (size_t i = 0; i < of.outputs(); ++i) {
    const nb::object object =
        outs.is_none() ? new_gpu_array(given, arrays, of.output(i)) : nb::object(outs[i]);
    results.push_back(output_of(object, of.output(i)));
    if (results.back().gpu != given.front().gpu) {
      refuse("out lies on " + place_of(results.back().gpu) + ", the arguments on " +
             place_of(given.front().gpu) + ": move it");
    }
    to.push_back(results.back().data);
    list.append(object);
  }
  graph::gpu::GpuProgram& made = program.gpu->on(of, given.front().gpu);
  const device::StreamHandle handle = given.front().stream;
  for (const GpuArray& array : given) {
    if (array.stream.pointer == handle.pointer) continue;
    check(made.device().synchronize(array.stream));  // another framework's work
  }
  const device::Stream stream = graph::gpu::stream_of(made.device(), handle);
  std::vector<device::Buffer> copies;
  for (const auto& [input, number] : numbers) {
    const size_t bytes = gp::bytes_of(number->view.dtype);
    copies.push_back(value(device::Buffer::allocate(stream, bytes)));
    check(made.device().copy(copies.back().data(), number->view.data, bytes, stream.handle()));
    from[input] = copies.back().data();
  }
  check(made.run(handle, from, to));
  gpu_was_used();
  return nb::tuple(list);
}

}  // namespace hoist::python
