// Methods of arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>

#include "python/array/parts.h"
#include "python/errors.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using array::DeviceKind;
using array::View;

// The only element.
nb::object item(const Array& array) {
  if (array.view.elements() != 1) {
    raise({ErrorCode::invalid_argument, "item() of an array of shape " +
                                            shape_text(array.view.shape()) +
                                            ": it needs one element"});
  }
  const Array here = on_cpu(array);
  return element_object(here.view.dtype, here.view.data);
}

nb::object list_of(const View& view, size_t axis, const std::byte* at) {
  if (axis == static_cast<size_t>(view.rank)) return element_object(view.dtype, at);
  const auto step = view.strides[axis] * static_cast<int64_t>(array::properties(view.dtype).bytes);
  nb::list list;
  for (int64_t i = 0; i < view.extents[axis]; ++i) {
    list.append(list_of(view, axis + 1, at + i * step));
  }
  return list;
}

std::vector<int64_t> integers(const nb::args& arguments) {
  const bool is_sequence = arguments.size() == 1 && (nb::isinstance<nb::tuple>(arguments[0]) ||
                                                     nb::isinstance<nb::list>(arguments[0]));
  return integers_of(is_sequence ? nb::object(arguments[0]) : nb::object(arguments));
}

nb::object permuted(nb::handle self, const nb::args& given) {
  const Array& array = self_of(self);
  std::vector<int64_t> axes = integers(given);
  const int64_t rank = array.view.rank;
  if (axes.empty() && given.size() == 0) {
    for (int64_t d = rank; d-- > 0;) axes.push_back(d);
  }
  View view = array.view;
  std::vector<bool> is_used(static_cast<size_t>(rank));
  bool fits = static_cast<int64_t>(axes.size()) == rank;
  for (size_t d = 0; fits && d < axes.size(); ++d) {
    if (axes[d] < 0) axes[d] += rank;
    fits = axes[d] >= 0 && axes[d] < rank && !is_used[static_cast<size_t>(axes[d])];
    if (!fits) break;
    const auto from = static_cast<size_t>(axes[d]);
    is_used[from] = true;
    view.extents[d] = array.view.extents[from];
    view.strides[d] = array.view.strides[from];
  }
  if (!fits) {
    raise({ErrorCode::invalid_argument, "axes " + shape_text(axes) + " of an array of shape " +
                                            shape_text(array.view.shape()) +
                                            ": give each axis once"});
  }
  return array_object(view_of(array, view));
}

nb::object to_device(nb::handle self, const std::string& device, std::optional<uintptr_t> stream) {
  const Array& array = self_of(self);
  const array::DeviceId id = device_named(device);
  if (id == array.view.device) return nb::borrow(self);
  const device::StreamHandle handle{reinterpret_cast<void*>(stream.value_or(0))};
  return array_object(on_device(array, id, handle));
}

nb::object copied(nb::handle self) {
  const Array& array = self_of(self);
  return array_object(array.view.device.kind == DeviceKind::cpu
                          ? copy_on_cpu(array)
                          : on_device(array, array.view.device, {}));
}

nb::object as_type(nb::handle self, const std::string& name, bool copy) {
  const Array& array = self_of(self);
  const array::DType dtype = dtype_named(name);
  if (dtype == array.view.dtype) return copy ? copied(self) : nb::borrow(self);
  if (array.view.device.kind == DeviceKind::cpu) return array_object(converted(array, dtype));
  return array_object(on_device(converted(array, dtype), array.view.device, {}));
}

}  // namespace

Array reshaped(const Array& array, std::span<const int64_t> given) {
  const auto refuse = [&] {
    raise({ErrorCode::invalid_argument, "reshape of an array of shape " +
                                            shape_text(array.view.shape()) + " to " +
                                            shape_text(given)});
  };
  std::vector<int64_t> shape(given.begin(), given.end());
  const auto unknowns = std::count(shape.begin(), shape.end(), -1);
  if (unknowns > 1) refuse();
  std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
  View view = row_major_view(array.view.dtype, shape, array.view.device);
  const uint64_t elements = array.view.elements();
  if (const uint64_t known = view.elements(); unknowns == 1) {
    if (known == 0) refuse();  // any would do
    const auto at = std::find(given.begin(), given.end(), -1) - given.begin();
    shape[static_cast<size_t>(at)] = static_cast<int64_t>(elements / known);
    view = row_major_view(array.view.dtype, shape, array.view.device);
  }
  if (view.elements() != elements) refuse();
  const Array whole = array.is_contiguous ? array : copy_on_cpu(array);
  view.data = whole.view.data;
  return view_of(whole, view);
}

void define_array_methods(nb::module_& module) {
  const nb::object type = module.attr("Array");
  const auto method = [&](const char* name, auto function, const auto&... extra) {
    nb::cpp_function_def(function, nb::scope(type), nb::name(name), nb::is_method(), extra...);
  };
  method("item", [](nb::handle self) { return item(self_of(self)); });
  method("tolist", [](nb::handle self) {
    const Array here = on_cpu(self_of(self));
    return list_of(here.view, 0, here.view.data);
  });
  method("copy", copied);
  method("__copy__", copied);
  method("__deepcopy__", [](nb::handle self, nb::handle) { return copied(self); });
  method("to_device", to_device, "device"_a, "stream"_a = nb::none());
  method("reshape", [](nb::handle self, const nb::args& shape) {
    return array_object(reshaped(self_of(self), integers(shape)));
  });
  method("permute_dims", permuted);
  method("transpose", permuted);
  method("_as_type", as_type, "dtype"_a, "copy"_a = true);
  // The elements as whole numbers of their size.
  method("_bits", [](nb::handle self) {
    constexpr array::DType kOf[] = {array::DType::u8, array::DType::u16, array::DType::u32,
                                    array::DType::u64};
    Array bits = self_of(self);
    bits.view.dtype = kOf[std::countr_zero(array::properties(bits.view.dtype).bytes)];
    return array_object(std::move(bits));
  });
  method("_is_contiguous", [](nb::handle self) { return self_of(self).is_contiguous; });
}

}  // namespace hoist::python
