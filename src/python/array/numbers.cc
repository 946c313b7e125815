// Single elements as Python's numbers, and arrays of numbers and sequences.
#include <cstring>
#include <limits>
#include <string_view>

#include "array/copy.h"
#include "python/array/parts.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::DType;
using array::View;

View element(DType dtype, const std::byte* at) {
  View view;
  view.data = const_cast<std::byte*>(at);
  view.dtype = dtype;
  return view;
}

template <typename T>
T as(DType wide, DType dtype, const std::byte* at) {
  T number{};
  copy_elements(element(dtype, at), element(wide, reinterpret_cast<std::byte*>(&number)));
  return number;
}

bool is_float(DType dtype) { return array::properties(dtype).is_float; }
bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64;
}

[[noreturn]] void refuse_range(nb::handle number, DType dtype) {
  const std::string message =
      std::string(nb::str(number).c_str()) + " does not fit " + std::string(dtype_name(dtype));
  PyErr_SetString(PyExc_OverflowError, message.c_str());
  throw nb::python_error();
}

template <typename T>
void write(T number, DType wide, DType dtype, std::byte* at) {
  copy_elements(element(wide, reinterpret_cast<const std::byte*>(&number)), element(dtype, at));
}

// Where the number is no whole one, false.
bool write_whole(nb::handle number, DType dtype, std::byte* at) {
  if (PyFloat_Check(number.ptr())) return false;
  const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
  if (!whole.is_valid()) {
    PyErr_Clear();
    return false;
  }
  if (is_unsigned(dtype)) {
    const unsigned long long given = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse_range(number, dtype);
    }
    write<uint64_t>(given, DType::u64, dtype, at);
    if (as<uint64_t>(DType::u64, dtype, at) != given) refuse_range(number, dtype);
    return true;
  }
  int overflow = 0;
  const long long given = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0) refuse_range(number, dtype);
  write<int64_t>(given, DType::i64, dtype, at);
  if (as<int64_t>(DType::i64, dtype, at) != given) refuse_range(number, dtype);
  return true;
}

// A sequence, and not one element.
bool is_sequence(nb::handle object) {
  PyObject* const it = object.ptr();
  if (PyList_Check(it) || PyTuple_Check(it)) return true;
  if (PyUnicode_Check(it) || PyBytes_Check(it) || PySequence_Check(it) == 0) return false;
  if (PySequence_Size(it) >= 0) return true;
  PyErr_Clear();  // an array without axes
  return false;
}

// The shape of nested sequences, by the first of each.
void find_shape(nb::handle object, std::vector<int64_t>& shape) {
  if (!is_sequence(object)) return;
  const Py_ssize_t length = PySequence_Size(object.ptr());
  shape.push_back(length);
  if (shape.size() > 64) raise({ErrorCode::invalid_argument, "sequences nested without end"});
  if (length == 0) return;
  const nb::object first = nb::steal(PySequence_GetItem(object.ptr(), 0));
  if (!first.is_valid()) throw nb::python_error();
  find_shape(first, shape);
}

enum class Kind : uint8_t { boolean, integer, real };

Kind kind_of(nb::handle number) {
  if (PyBool_Check(number.ptr())) return Kind::boolean;
  if (PyFloat_Check(number.ptr())) return Kind::real;
  if (PyLong_Check(number.ptr())) return Kind::integer;
  if (nb::hasattr(number, "dtype")) {  // numbers of NumPy's, and arrays without axes
    const nb::str text(nb::object(number.attr("dtype")));
    const std::string_view name = text.c_str();
    if (name.find("bool") != std::string_view::npos) return Kind::boolean;
    if (name.find("float") != std::string_view::npos) return Kind::real;
  }
  if (PyIndex_Check(number.ptr())) return Kind::integer;
  if (nb::hasattr(number, "__float__")) return Kind::real;
  const std::string message =
      std::string("an element is a number, not ") + nb::type_name(number.type()).c_str();
  throw nb::type_error(message.c_str());
}

struct Elements {
  std::vector<nb::object> numbers;
  Kind kind = Kind::boolean;
};

void collect(nb::handle object, std::span<const int64_t> shape, Elements& elements) {
  if (shape.empty()) {
    if (is_sequence(object)) {
      raise({ErrorCode::invalid_argument, "sequences of different lengths make no array"});
    }
    elements.kind = std::max(elements.kind, kind_of(object));
    elements.numbers.push_back(nb::borrow(object));
    return;
  }
  if (!is_sequence(object) || PySequence_Size(object.ptr()) != shape.front()) {
    raise({ErrorCode::invalid_argument, "sequences of different lengths make no array"});
  }
  for (int64_t i = 0; i < shape.front(); ++i) {
    const nb::object one = nb::steal(PySequence_GetItem(object.ptr(), i));
    if (!one.is_valid()) throw nb::python_error();
    collect(one, shape.subspan(1), elements);
  }
}

}  // namespace

nb::object element_object(DType dtype, const std::byte* at) {
  if (dtype == DType::boolean) return nb::bool_(as<uint8_t>(DType::u8, dtype, at) != 0);
  if (is_float(dtype)) return nb::float_(as<double>(DType::f64, dtype, at));
  if (is_unsigned(dtype)) return nb::int_(as<uint64_t>(DType::u64, dtype, at));
  return nb::int_(as<int64_t>(DType::i64, dtype, at));
}

int64_t integer_of(nb::handle number) {
  const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long given = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0) {
    raise({ErrorCode::invalid_argument,
           std::string(nb::str(whole).c_str()) + " is no length, place or axis of an array"});
  }
  if (given == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return given;
}

std::vector<int64_t> integers_of(nb::handle sequence) {
  std::vector<int64_t> result;
  for (const nb::handle number : nb::borrow(sequence)) result.push_back(integer_of(number));
  return result;
}

void write_element(nb::handle number, DType dtype, std::byte* at) {
  if (dtype == DType::boolean) {
    const int truth = PyObject_IsTrue(number.ptr());
    if (truth < 0) throw nb::python_error();
    *at = static_cast<std::byte>(truth);
    return;
  }
  if (!is_float(dtype) && write_whole(number, dtype, at)) return;
  const double given = PyFloat_AsDouble(number.ptr());
  if (given == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  write(given, DType::f64, dtype, at);
}

void fill(const Array& array, nb::handle number) {
  check_writable(array);
  Array one = new_array(array.view.dtype, {});
  write_element(number, array.view.dtype, one.view.data);
  copy_into(view_of(one, broadcast(one.view, array.view.shape())), array);
}

Array array_of_numbers(nb::handle object, std::optional<DType> dtype) {
  std::vector<int64_t> shape;
  find_shape(object, shape);
  Elements elements;
  collect(object, shape, elements);
  if (elements.numbers.empty()) elements.kind = Kind::real;
  if (!dtype) {
    dtype = elements.kind == Kind::boolean   ? DType::boolean
            : elements.kind == Kind::integer ? DType::i64
                                             : DType::f32;
  }
  Array array = new_array(*dtype, shape);
  std::byte* at = array.view.data;
  for (const nb::object& number : elements.numbers) {
    write_element(number, *dtype, at);
    at += array::properties(*dtype).bytes;
  }
  return array;
}

}  // namespace hoist::python
