// a[key], a[key] = value, len(a) and iteration. Keys are numbers, slices, None and one ellipsis:
// parts are views.
#include <algorithm>

#include "array/copy.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/raising.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::View;

[[noreturn]] void refuse_index(int64_t index, int64_t extent) {
  PyErr_SetString(PyExc_IndexError, ("index " + std::to_string(index) + " of an axis of length " +
                                     std::to_string(extent))
                                        .c_str());
  throw nb::python_error();
}

// Goes through a view's axes, and builds the part's.
class Part {
 public:
  explicit Part(const View& whole) : whole_(whole), part_(whole) { part_.rank = 0; }

  void take(int64_t index) {
    const int64_t extent = whole_.extents[axis_];
    if (index < -extent || index >= extent) refuse_index(index, extent);
    move(index < 0 ? index + extent : index);
    ++axis_;
  }
  void take(PyObject* slice) {
    Py_ssize_t begin = 0;
    Py_ssize_t end = 0;
    Py_ssize_t step = 0;
    if (PySlice_Unpack(slice, &begin, &end, &step) != 0) throw nb::python_error();
    const Py_ssize_t length = PySlice_AdjustIndices(whole_.extents[axis_], &begin, &end, step);
    if (length > 0) move(begin);
    add(length, whole_.strides[axis_] * step);
    ++axis_;
  }
  void take_all(size_t axes) {
    for (; axes > 0; --axes, ++axis_) add(whole_.extents[axis_], whole_.strides[axis_]);
  }
  void add(int64_t extent, int64_t stride) {
    const auto axis = static_cast<size_t>(part_.rank);
    if (axis == kMostDimensions) {
      raise({ErrorCode::unsupported,
             "an array of more than " + std::to_string(kMostDimensions) + " axes"});
    }
    part_.extents[axis] = extent;
    part_.strides[axis] = stride;
    ++part_.rank;
  }
  size_t axes_left() const { return static_cast<size_t>(whole_.rank) - axis_; }
  const View& get() const { return part_; }

 private:
  void move(int64_t index) {
    const auto item = static_cast<int64_t>(array::properties(whole_.dtype).bytes);
    if (whole_.elements() != 0) part_.data += index * whole_.strides[axis_] * item;
  }

  const View& whole_;
  View part_;
  size_t axis_ = 0;
};

size_t axes_used(std::span<PyObject* const> keys) {
  return static_cast<size_t>(std::count_if(keys.begin(), keys.end(), [](PyObject* key) {
    return key != Py_None && key != Py_Ellipsis;
  }));
}

[[noreturn]] void refuse_key(PyObject* key) {
  raise({ErrorCode::invalid_argument, std::string("an index of type ") +
                                          nb::type_name(nb::handle(key).type()).c_str() +
                                          ": arrays take numbers, slices, None and ..."});
}

int64_t index_of(PyObject* key) {
  const Array* const array = array_of(key);
  const bool is_element = array == nullptr || array->view.rank == 0;
  if (PyBool_Check(key) || PyIndex_Check(key) == 0 || !is_element) refuse_key(key);
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();  // an array of several
    refuse_key(key);
  }
  return index;
}

View part_by(const View& view, std::span<PyObject* const> keys) {
  const size_t used = axes_used(keys);
  const auto ellipses = std::count(keys.begin(), keys.end(), Py_Ellipsis);
  if (ellipses > 1 || used > static_cast<size_t>(view.rank)) {
    raise({ErrorCode::invalid_argument, std::to_string(keys.size()) +
                                            " indices of an array of shape " +
                                            shape_text(view.shape())});
  }
  const size_t left_out = static_cast<size_t>(view.rank) - used;
  Part part(view);
  for (PyObject* const key : keys) {
    if (key == Py_None) {
      part.add(1, 0);
    } else if (key == Py_Ellipsis) {
      part.take_all(left_out);
    } else if (PySlice_Check(key)) {
      part.take(key);
    } else {
      part.take(index_of(key));
    }
  }
  part.take_all(part.axes_left());
  return part.get();
}

// An array with axes, which is not part of a tuple.
bool is_array_of_indices(PyObject* key) {
  if (const Array* const array = array_of(key)) return array->view.rank > 0;
  if (PyLong_Check(key) || PySlice_Check(key) || PyTuple_Check(key) || PyList_Check(key) ||
      PyUnicode_Check(key) || key == Py_None || key == Py_Ellipsis) {
    return false;
  }
  const std::optional<Array> array = imported(key);
  return array && array->view.rank > 0;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return raising([&]() -> PyObject* {
    if (is_array_of_indices(key)) return take(self, key);
    const Array& array = self_of(self);
    return array_object(view_of(array, part_of(array.view, nb::handle(key)))).release().ptr();
  });
}

// Numbers, and sequences of them, as elements of the target's type, each from what it is.
Array value_for(nb::handle object, const Array& target) {
  if (Array* const given = array_of(object.ptr())) return *given;
  const bool is_number = PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr());
  if (std::optional<Array> given = is_number ? std::nullopt : imported(object)) {
    return *std::move(given);
  }
  return array_of_numbers(object, target.view.dtype);
}

int assign(PyObject* self, PyObject* key, PyObject* given) {
  PyObject* const done = raising([&]() -> PyObject* {
    if (given == nullptr) throw nb::type_error("elements of an array cannot be deleted");
    const Array& array = self_of(self);
    check_writable(array);
    const Array target = view_of(array, part_of(array.view, nb::handle(key)));
    Array source = value_for(given, target);
    // As NumPy, leading axes of length 1 more than the target has are left out.
    while (source.view.rank > target.view.rank && source.view.extents[0] == 1) {
      View view = source.view;
      std::copy(view.extents.begin() + 1, view.extents.end(), view.extents.begin());
      std::copy(view.strides.begin() + 1, view.strides.end(), view.strides.begin());
      --view.rank;
      source = view_of(source, view);
    }
    copy_into(view_of(source, broadcast(source.view, target.view.shape())), target);
    return Py_None;
  });
  return done == nullptr ? -1 : 0;
}

Py_ssize_t length(PyObject* self) {
  const View& view = self_of(self).view;
  if (view.rank > 0) return view.extents[0];
  PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
  return -1;
}

PyObject* item(PyObject* self, Py_ssize_t index) {
  return raising([&] {
    const Array& array = self_of(self);
    if (array.view.rank == 0) throw nb::type_error("an array without axes has no items");
    Part part(array.view);
    part.take(index);
    part.take_all(part.axes_left());
    return array_object(view_of(array, part.get())).release().ptr();
  });
}

PyObject* iterate(PyObject* self) {
  if (length(self) < 0) return nullptr;
  return PySeqIter_New(self);
}

const PyType_Slot slots[] = {{Py_mp_length, reinterpret_cast<void*>(length)},
                             {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(assign)},
                             {Py_sq_length, reinterpret_cast<void*>(length)},
                             {Py_sq_item, reinterpret_cast<void*>(item)},
                             {Py_tp_iter, reinterpret_cast<void*>(iterate)}};

}  // namespace

std::span<const PyType_Slot> index_slots() { return slots; }

View part_of(const View& view, nb::handle key) {
  if (!PyTuple_Check(key.ptr())) {
    PyObject* const only = key.ptr();
    return part_by(view, std::span<PyObject* const>(&only, 1));
  }
  PyObject* keys[2 * kMostDimensions + 1];
  const auto count = static_cast<size_t>(PyTuple_Size(key.ptr()));
  if (count > std::size(keys)) {
    raise({ErrorCode::invalid_argument,
           std::to_string(count) + " indices of an array of shape " + shape_text(view.shape())});
  }
  for (size_t i = 0; i < count; ++i) {
    keys[i] = PyTuple_GetItem(key.ptr(), static_cast<Py_ssize_t>(i));
  }
  return part_by(view, std::span<PyObject* const>(keys, count));
}

View broadcast(const View& view, std::span<const int64_t> shape) {
  View wide = view;
  const auto rank = static_cast<size_t>(view.rank);
  const auto refuse = [&] {
    raise({ErrorCode::invalid_argument,
           "shape " + shape_text(view.shape()) + " does not fit " + shape_text(shape)});
  };
  if (rank > shape.size() || shape.size() > kMostDimensions) refuse();
  const size_t added = shape.size() - rank;
  for (size_t d = 0; d < shape.size(); ++d) {
    wide.extents[d] = shape[d];
    const bool is_new = d < added || view.extents[d - added] != shape[d];
    if (is_new && d >= added && view.extents[d - added] != 1) refuse();
    wide.strides[d] = is_new ? 0 : view.strides[d - added];
  }
  wide.rank = static_cast<int32_t>(shape.size());
  return wide;
}

}  // namespace hoist::python
