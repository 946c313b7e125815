#include "python/graph_arrays.h"

#include <algorithm>

#include "python/array/parts.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::DeviceKind;
using graph::program::DType;
using graph::program::Node;
using graph::program::text_of;

Array opened(nb::handle object, const std::string& who) {
  std::optional<Array> array = imported(object, who);
  if (!array) {
    const std::string message =
        who + " is an array of the CPU, not " + nb::type_name(object.type()).c_str();
    throw nb::type_error(message.c_str());
  }
  if (array->view.device.kind != DeviceKind::cpu) {
    raise({ErrorCode::unsupported, who + " does not lie on the CPU: move it there"});
  }
  return *std::move(array);
}

GraphArray described(const Array& array) {
  GraphArray result;
  result.dtype = array.view.dtype;
  result.shape.assign(array.view.shape().begin(), array.view.shape().end());
  result.data = array.view.data;
  result.memory = array.memory;
  return result;
}

}  // namespace

std::string graph_dtype_name(DType dtype) { return std::string(dtype_name(dtype)); }

DType graph_dtype(const std::string& name) { return dtype_named(name); }

GraphArray graph_input(nb::handle object, const std::string& who) {
  const Array array = opened(object, who);
  return described(array.is_contiguous ? array : copy_on_cpu(array));
}

GraphArray graph_output(nb::handle object, const Node& node, const std::string& who) {
  const Array array = opened(object, who);
  if (array.is_read_only) {
    raise({ErrorCode::invalid_argument, who + " is read-only: give one that may be written"});
  }
  if (array.view.dtype != node.dtype || !std::ranges::equal(array.view.shape(), node.shape)) {
    raise({ErrorCode::invalid_argument, who + " is " + graph_dtype_name(array.view.dtype) +
                                            " of shape " + shape_text(array.view.shape()) +
                                            ": the result is " + graph_dtype_name(node.dtype) +
                                            " of shape " + text_of(node.shape)});
  }
  if (!array.is_contiguous) {
    raise({ErrorCode::invalid_argument, who + " has gaps: give a contiguous array"});
  }
  return described(array);
}

nb::object numpy_type(nb::handle name) {
  nb::object type = nb::borrow(name);
  if (name.equal(nb::str("bfloat16"))) {
    try {
      type = nb::module_::import_("ml_dtypes").attr("bfloat16");
    } catch (const nb::python_error&) {
      raise({ErrorCode::unsupported,
             "a result of bfloat16 without the package ml_dtypes: install it, or give out="});
    }
  }
  return nb::module_::import_("numpy").attr("dtype")(type);
}

nb::object new_numpy_array(const Node& node) {
  const std::string_view name = dtype_name(node.dtype);
  return nb::module_::import_("numpy").attr("empty")(tuple_of(node.shape),
                                                     numpy_type(nb::str(name.data(), name.size())));
}

}  // namespace hoist::python
