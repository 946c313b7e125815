// Functions that make arrays, for hoist.graph's.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "array/copy.h"
#include "python/array/parts.h"
#include "python/errors.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using array::DeviceId;
using array::DeviceKind;
using array::DType;
using array::View;

// The array on that device (none: where it lies), a copy where one is wanted.
nb::object placed(const Array& array, const std::optional<std::string>& device,
                  std::optional<bool> copy, bool is_copy) {
  const DeviceId id = device ? device_named(*device) : array.view.device;
  const bool moves = id != array.view.device;
  if ((moves || is_copy) && copy.has_value() && !*copy) {
    throw nb::value_error("no copy is allowed, but one is needed: pass copy=None");
  }
  if (moves) return array_object(on_device(array, id, {}));
  if (!copy.value_or(false) || is_copy) return array_object(array);
  return array_object(id.kind == DeviceKind::cpu ? copy_on_cpu(array) : on_device(array, id, {}));
}

nb::object as_array(nb::handle object, const std::optional<std::string>& dtype,
                    const std::optional<std::string>& device, std::optional<bool> copy) {
  const std::optional<DType> type = dtype ? std::optional(dtype_named(*dtype)) : std::nullopt;
  const Array* const given = array_of(object.ptr());
  const bool is_known = given != nullptr && (!type || *type == given->view.dtype);
  if (is_known && !copy.value_or(false) &&
      (!device || device_named(*device) == given->view.device)) {
    return nb::borrow(object);
  }
  const bool is_number = PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr());
  const std::optional<Array> array = is_number ? std::nullopt : imported(object);
  if (!array) return placed(array_of_numbers(object, type), device, copy, true);
  if (type && *type != array->view.dtype) {
    Array other = converted(*array, *type);
    const bool stays = !device && array->view.device.kind != DeviceKind::cpu;
    return placed(other, stays ? device_name(array->view.device) : device, copy, true);
  }
  return placed(*array, device, copy, false);
}

nb::object from_dlpack(nb::handle object, const std::optional<std::string>& device,
                       std::optional<bool> copy) {
  return placed(imported_by_dlpack(object), device, copy, false);
}

// start + i * step, each computed from i: as NumPy's arange and linspace have it.
template <typename Number>
void count(const Array& array, Number start, Number step, DType wide) {
  std::array<Number, 512> numbers;
  const auto elements = static_cast<int64_t>(array.view.elements());
  for (int64_t begin = 0; begin < elements; begin += std::ssize(numbers)) {
    const int64_t end = std::min(begin + std::ssize(numbers), elements);
    for (int64_t i = begin; i < end; ++i) {
      numbers[static_cast<size_t>(i - begin)] = start + static_cast<Number>(i) * step;
    }
    const int64_t count = end - begin;
    View from = row_major_view(wide, {&count, 1});
    from.data = reinterpret_cast<std::byte*>(numbers.data());
    copy_elements(from, value(array.view.slice(0, begin, end)));
  }
}

nb::object empty(const std::vector<int64_t>& shape, const std::string& dtype,
                 const std::string& device) {
  return array_object(new_array(dtype_named(dtype), shape, device_named(device)));
}

nb::object full(const std::vector<int64_t>& shape, nb::handle number, const std::string& dtype,
                const std::string& device) {
  Array array = new_array(dtype_named(dtype), shape, device_named(device));
  fill(array, number);
  return array_object(std::move(array));
}

}  // namespace

void define_array_creation(nb::module_& module) {
  module.def("asarray", as_array, "object"_a, "dtype"_a.none(), "device"_a.none(), "copy"_a.none());
  module.def("from_dlpack", from_dlpack, "object"_a, "device"_a.none(), "copy"_a.none());
  module.def("empty", empty, "shape"_a, "dtype"_a, "device"_a);
  module.def("full", full, "shape"_a, "number"_a, "dtype"_a, "device"_a);
  module.def("count_integers", [](nb::handle array, int64_t start, int64_t step) {
    count<int64_t>(self_of(array), start, step, DType::i64);
  });
  module.def("count_floats", [](nb::handle array, double start, double step) {
    count<double>(self_of(array), start, step, DType::f64);
  });
}

}  // namespace hoist::python
