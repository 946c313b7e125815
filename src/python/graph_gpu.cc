#include "python/graph_gpu.h"

#include <algorithm>

#include "device/device.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_gpu_arrays.h"
#include "python/graph_program.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

constexpr size_t kMostKnown = 64;

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

// A number that stands beside arrays, and now lies there, too.
GpuArray number_of(nb::handle object, const gp::Node& node, int gpu, const std::string& who) {
  const std::optional<Array> number = imported(object, who);
  if (!number || number->view.rank != 0) {
    refuse(who + " does not lie on a GPU, as others do: move all to one device");
  }
  const array::DeviceId device{array::DeviceKind::cuda, gpu};
  const nb::object copy = array_object(on_device(*number, device, {}));
  GpuArray array = gpu_array(copy, who);
  check_fit(array, node, who, "the program was traced for");
  return array;
}

// Of the first array that lies on one.
int gpu_of(nb::sequence arrays) {
  for (const nb::handle array : arrays) {
    if (is_on_gpu(array)) return gpu_array(array, "an array").gpu;
  }
  refuse("no array lies on a GPU");
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
  const auto count = static_cast<size_t>(nb::len(arrays));
  if (count != of.inputs()) {
    refuse("a program with " + std::to_string(of.inputs()) + " inputs is given " +
           std::to_string(count));
  }
  std::vector<GpuArray> given;
  std::vector<const void*> from;
  const int gpu = gpu_of(arrays);
  for (size_t i = 0; i < count; ++i) {
    const nb::object object = arrays[i];
    const std::string who = "input " + std::to_string(i);
    given.push_back(is_on_gpu(object) ? input_of(object, of.input(i), who)
                                      : number_of(object, of.input(i), gpu, who));
    from.push_back(given.back().data);
    if (given.back().gpu != gpu) {
      refuse(who + " lies on " + place_of(given.back().gpu) + ", others on " + place_of(gpu) +
             ": move all to one device");
    }
  }
  if (!outs.is_none() && static_cast<size_t>(nb::len(outs)) != of.outputs()) {
    refuse("a program with " + std::to_string(of.outputs()) + " outputs is given " +
           std::to_string(nb::len(outs)));
  }
  std::vector<GpuArray> results;
  std::vector<void*> to;
  nb::list list;
  for (size_t i = 0; i < of.outputs(); ++i) {
    const nb::object object =
        outs.is_none() ? new_gpu_array(given, arrays, of.output(i)) : nb::object(outs[i]);
    results.push_back(output_of(object, of.output(i)));
    if (results.back().gpu != gpu) {
      refuse("out lies on " + place_of(results.back().gpu) + ", the arguments on " + place_of(gpu) +
             ": move it");
    }
    to.push_back(results.back().data);
    list.append(object);
  }
  graph::gpu::GpuProgram& made = program.gpu->on(of, gpu);
  const device::StreamHandle stream = given.front().stream;
  for (const GpuArray& array : given) {
    if (array.stream.pointer == stream.pointer) continue;
    check(made.device().synchronize(array.stream));  // another framework's work
  }
  check(made.run(stream, from, to));
  gpu_was_used();
  return nb::tuple(list);
}

struct GpuCalls::Known {
  GraphProgram program;
  bool is_tuple = false;
};

void GpuCalls::add(const GraphProgram& program, bool is_tuple) {
  known_.insert(known_.begin(), std::make_shared<const Known>(Known{program, is_tuple}));
  if (known_.size() > kMostKnown) known_.pop_back();
}

PyObject* GpuCalls::call(PyObject* const* arguments, size_t count, PyObject* keywords) {
  constexpr size_t kMostInputs = 32;
  constexpr size_t kMostOutputs = 8;
  if (!is_gpu_in_use() || known_.empty() || count == 0 || count > kMostInputs) return nullptr;
  const Py_ssize_t names = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  if (names > 1) return nullptr;
  PyObject* out = nullptr;
  if (names == 1) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, 0), "out") != 0) return nullptr;
    if (arguments[count] != Py_None) out = arguments[count];
  }
  const DLPackExchangeApi* const api = exchange_.of(arguments[0]);
  if (api == nullptr || api->current_stream == nullptr) return nullptr;
  DLTensor inputs[kMostInputs];
  const void* from[kMostInputs];
  for (size_t i = 0; i < count; ++i) {
    if (Py_TYPE(arguments[i]) != Py_TYPE(arguments[0])) return nullptr;
    if (!view_on_gpu(*api, arguments[i], inputs[i])) return nullptr;
    if (inputs[i].device_id != inputs[0].device_id) return nullptr;
    from[i] = static_cast<std::byte*>(inputs[i].data) + inputs[i].byte_offset;
  }
  const auto fits = [&](const std::shared_ptr<const Known>& known) {
    const gp::Program& program = *known->program.program;
    if (program.inputs() != count) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!fits_node(inputs[i], program.input(i))) return false;
    }
    return true;
  };
  const auto found = std::find_if(known_.begin(), known_.end(), fits);
  if (found == known_.end()) return nullptr;
  if (found != known_.begin()) std::iter_swap(known_.begin(), found);
  const std::shared_ptr<const Known> known = known_.front();
  const gp::Program& program = *known->program.program;
  const size_t results = program.outputs();
  if (results > kMostOutputs || (out != nullptr && known->is_tuple)) return nullptr;
  if (out == nullptr && (api->allocate == nullptr || api->to_object == nullptr)) return nullptr;
  nb::object made[kMostOutputs];
  void* to[kMostOutputs];
  for (size_t i = 0; i < results; ++i) {
    DLTensor view;
    if (out != nullptr) {
      if (Py_TYPE(out) != Py_TYPE(arguments[0]) || !view_on_gpu(*api, out, view) ||
          !fits_node(view, program.output(i)) || view.device_id != inputs[0].device_id) {
        return nullptr;
      }
      made[i] = nb::borrow(out);
      to[i] = static_cast<std::byte*>(view.data) + view.byte_offset;
    } else {
      made[i] = allocated(*api, program.output(i), inputs[0].device_id, &to[i]);
    }
  }
  void* stream = nullptr;
  if (api->current_stream(kDlpackCuda, inputs[0].device_id, &stream) != 0) {
    throw nb::python_error();
  }
  graph::gpu::GpuProgram& on = known->program.gpu->on(program, inputs[0].device_id);
  check(on.run({stream}, {from, count}, {to, results}));
  if (!known->is_tuple) return made[0].release().ptr();
  nb::list all;
  for (size_t i = 0; i < results; ++i) all.append(made[i]);
  return nb::tuple(all).release().ptr();
}

}  // namespace hoist::python
