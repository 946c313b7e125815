#include "python/graph_device.h"

#include <algorithm>
#include <vector>

#include "python/array/parts.h"
#include "python/errors.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;
using array::DeviceId;
using array::DeviceKind;
using array::View;

// Contiguous, on the device, as the program has it.
void check_fits(const Array& array, const gp::Node& node, DeviceId device, const std::string& who) {
  if (array.view.device != device) {
    raise({ErrorCode::invalid_argument, who + " lies on " + device_name(array.view.device) +
                                            ", another array on " + device_name(device) +
                                            ": move all to one device by to_device()"});
  }
  if (array.view.dtype != node.dtype || !std::ranges::equal(array.view.shape(), node.shape)) {
    raise({ErrorCode::invalid_argument,
           who + " is " + std::string(dtype_name(array.view.dtype)) + " of shape " +
               shape_text(array.view.shape()) + ": the program has " +
               std::string(dtype_name(node.dtype)) + " of shape " + shape_text(node.shape)});
  }
  if (!array.is_contiguous) {
    raise({ErrorCode::unsupported, who + " has gaps, on a GPU: give a contiguous array"});
  }
}

Array opened(nb::handle object, const std::string& who) {
  if (std::optional<Array> array = imported(object, who)) return *std::move(array);
  const std::string message = who + " is an array, not " + nb::type_name(object.type()).c_str();
  throw nb::type_error(message.c_str());
}

std::vector<View> views_of(const std::vector<Array>& arrays) {
  std::vector<View> views;
  for (const Array& array : arrays) views.push_back(array.view);
  return views;
}

}  // namespace

std::optional<DeviceId> gpu_of(nb::handle arrays) {
  for (const nb::handle object : arrays) {
    if (const Array* const array = array_of(object.ptr())) {
      if (array->view.device.kind != DeviceKind::cpu) return array->view.device;
    } else if (PyObject_CheckBuffer(object.ptr()) == 0 &&
               nb::hasattr(object, "__dlpack_device__")) {
      const nb::object device = nb::object(object.attr("__dlpack_device__")());
      const DeviceId id{static_cast<DeviceKind>(nb::cast<int32_t>(nb::object(device[0]))),
                        nb::cast<int32_t>(nb::object(device[1]))};
      if (id.kind == DeviceKind::cuda) return id;
    }
  }
  return std::nullopt;
}

nb::tuple run_on_gpu(const GraphProgram& program, nb::sequence arrays, nb::object outs,
                     DeviceId device) {
  const gp::Program& made = *program.program;
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  nb::list results;
  for (size_t i = 0; i < made.inputs(); ++i) {
    const std::string who = "input " + std::to_string(i);
    const Array input = opened(arrays[i], who);
    // A number that stands beside arrays.
    const bool is_number = input.view.rank == 0 && input.view.device.kind == DeviceKind::cpu;
    inputs.push_back(is_number ? on_device(input, device, {}) : input);
    check_fits(inputs.back(), made.input(i), device, who);
  }
  for (size_t i = 0; i < made.outputs(); ++i) {
    const gp::Node& node = made.output(i);
    const nb::object result = outs.is_none()
                                  ? array_object(new_array(node.dtype, node.shape, device))
                                  : nb::object(outs[i]);
    outputs.push_back(opened(result, "out"));
    check_writable(outputs.back());
    check_fits(outputs.back(), node, device, "out");
    results.append(result);
  }
  const std::vector<View> from = views_of(inputs);
  const std::vector<View> to = views_of(outputs);
  Status done;
  {
    const ReleasedGil released;
    done = enqueue_on_gpu(program, device_of(device), {}, from, to);
  }
  check(done);
  return nb::tuple(results);
}

Status enqueue_on_gpu(const GraphProgram& /*program*/, device::Device& device,
                      device::StreamHandle /*stream*/, std::span<const View> /*inputs*/,
                      std::span<const View> /*outputs*/) {
  return fail(ErrorCode::unsupported,
              "arrays on " + std::string(device.properties().name) +
                  ": programs run on the CPU; copy them by to_device(\"cpu\")");
}

}  // namespace hoist::python
