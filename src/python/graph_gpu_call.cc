// Calls with arrays on a GPU, without a step through Python.
#include <algorithm>

#include "python/errors.h"
#include "python/graph_gpu.h"
#include "python/graph_gpu_arrays.h"
#include "python/graph_program.h"

namespace nb = nanobind;

namespace hoist::python {

namespace gp = graph::program;

namespace {
constexpr size_t kMostKnown = 64;
}  // namespace

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
