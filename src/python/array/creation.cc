// Functions that make arrays, for hoist.graph's.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

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

// at(i) of each place i.
template <typename Number, typename At>
void count(const Array& array, DType wide, const At& at) {
  std::array<Number, 512> numbers;
  const auto elements = static_cast<int64_t>(array.view.elements());
  for (int64_t begin = 0; begin < elements; begin += std::ssize(numbers)) {
    const int64_t end = std::min(begin + std::ssize(numbers), elements);
    for (int64_t i = begin; i < end; ++i) {
      numbers[static_cast<size_t>(i - begin)] = at(i);
    }
    const int64_t count = end - begin;
    View from = row_major_view(wide, {&count, 1});
    from.data = reinterpret_cast<std::byte*>(numbers.data());
    copy_elements(from, value(array.view.slice(0, begin, end)));
  }
}

nb::object empty(nb::handle shape, const std::string& dtype, const std::string& device) {
  return array_object(new_array(dtype_named(dtype), integers_of(shape), device_named(device)));
}

nb::object full(nb::handle shape, nb::handle number, const std::string& dtype,
                const std::string& device) {
  Array array = new_array(dtype_named(dtype), integers_of(shape), device_named(device));
  fill(array, number);
  return array_object(std::move(array));
}

}  // namespace

void define_array_creation(nb::module_& module) {
  module.def("asarray", as_array, "object"_a, "dtype"_a.none(), "device"_a.none(), "copy"_a.none());
  module.def("from_dlpack", from_dlpack, "object"_a, "device"_a.none(), "copy"_a.none());
  module.def("empty", empty, "shape"_a, "dtype"_a, "device"_a);
  module.def("full", full, "shape"_a, "number"_a, "dtype"_a, "device"_a);
  // start + i * step, each computed from i, as NumPy's arange and linspace have it: modulo 2^64.
  module.def("count_integers", [](nb::handle given, uint64_t start, uint64_t step) {
    const Array& array = self_of(given);
    const DType wide = array.view.dtype == DType::u64 ? DType::u64 : DType::i64;
    count<uint64_t>(array, wide,
                    [&](int64_t i) { return start + static_cast<uint64_t>(i) * step; });
  });
  // The same of floats. `by_halves`: the step is half of one, because the whole has no number.
  module.def("count_floats", [](nb::handle array, double start, double step, bool by_halves) {
    if (by_halves) {
      count<double>(self_of(array), DType::f64,
                    [&](int64_t i) { return 2 * (start / 2 + static_cast<double>(i) * step); });
    } else {
      count<double>(self_of(array), DType::f64,
                    [&](int64_t i) { return start + static_cast<double>(i) * step; });
    }
  });
}

}  // namespace hoist::python
