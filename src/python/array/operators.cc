// Operators, which are hoist.graph's functions, and single elements as Python's numbers.
#include <array>
#include <string_view>

#include "array/copy.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/raising.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

enum Operator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kMatmul,
  kFloorDivide,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kLeftShift,
  kRightShift,
  kNegative,
  kAbsolute,
  kInvert,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kRepr,
  kTake,
  kOperators,
};

// As hoist.graph names them.
constexpr std::array<std::string_view, kOperators> kNames = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "pow",
    "matmul",
    "floor_divide",
    "remainder",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "negative",
    "abs",
    "bitwise_invert",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "repr",
    "take",
};

nb::object interned(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }

struct Functions {
  nb::object of[kOperators];  // invalid: there is no such function
  nb::object out = nb::steal(PyTuple_Pack(1, interned("out").ptr()));
  nb::object axis = nb::steal(PyTuple_Pack(1, interned("axis").ptr()));
};

// Never destroyed.
Functions& functions() {
  static Functions& only = *new Functions;
  return only;
}

// Whether hoist.graph takes the other operand; a traced array answers for itself.
bool is_operand(PyObject* object) {
  if (array_of(object) != nullptr || PyFloat_Check(object) || PyLong_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || object == Py_None) return false;
  if (PyObject_CheckBuffer(object) != 0 || nb::hasattr(object, "__dlpack__")) return true;
  return nb::hasattr(object, "__array_interface__");
}

PyObject* not_implemented() {
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}

PyObject* apply(Operator op, PyObject* a, PyObject* b, PyObject* out) {
  const nb::object& function = functions().of[op];
  if (!function.is_valid() || !is_operand(a) || !is_operand(b)) return not_implemented();
  PyObject* const arguments[] = {nullptr, a, b, out};
  return PyObject_Vectorcall(function.ptr(), arguments + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                             out != nullptr ? functions().out.ptr() : nullptr);
}

template <Operator op>
PyObject* binary(PyObject* a, PyObject* b) {
  return apply(op, a, b, nullptr);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  return modulus == Py_None ? apply(kPower, a, b, nullptr) : not_implemented();
}

// Into the array itself; where it has gaps, by way of another one.
PyObject* apply_in_place(Operator op, PyObject* self, PyObject* other) {
  return raising([&]() -> PyObject* {
    const Array& array = self_of(self);
    check_writable(array);
    PyObject* const given =
        apply(op, self, other, array.is_contiguous && op != kMatmul ? self : nullptr);
    if (given == nullptr || given == Py_NotImplemented || given == self) return given;
    const nb::object result = nb::steal(given);
    Array* const made = array_of(result.ptr());
    if (made == nullptr || made->view.dtype != array.view.dtype ||
        !std::ranges::equal(made->view.shape(), array.view.shape())) {
      raise({ErrorCode::invalid_argument,
             "the result's type or shape is not that of the array that it belongs in"});
    }
    copy_into(*made, array);
    return nb::borrow(self).release().ptr();
  });
}

template <Operator op>
PyObject* in_place(PyObject* self, PyObject* other) {
  return apply_in_place(op, self, other);
}
PyObject* power_in_place(PyObject* self, PyObject* other, PyObject*) {
  return apply_in_place(kPower, self, other);
}

PyObject* no_function(Operator op) {
  PyErr_Format(PyExc_TypeError, "hoist.graph has no function %s", kNames[op].data());
  return nullptr;
}

template <Operator op>
PyObject* unary(PyObject* self) {
  const nb::object& function = functions().of[op];
  if (function.is_valid()) return PyObject_CallFunctionObjArgs(function.ptr(), self, nullptr);
  return no_function(op);
}

PyObject* positive(PyObject* self) {
  return raising([&] {
    const nb::object copy = array_object(copy_on_cpu(self_of(self)));
    return nb::object(copy).release().ptr();
  });
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  constexpr Operator kOf[] = {kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return apply(kOf[op], self, other, nullptr);
}

nb::object only_element(PyObject* self, const char* what) {
  const Array& array = self_of(self);
  if (array.view.elements() != 1) {
    raise({ErrorCode::invalid_argument, std::string(what) + " of an array of shape " +
                                            shape_text(array.view.shape()) +
                                            ": it needs one element"});
  }
  const Array here = on_cpu(array);
  return element_object(here.view.dtype, here.view.data);
}

int truth(PyObject* self) {
  int is = -1;
  raising([&]() -> PyObject* {
    is = PyObject_IsTrue(only_element(self, "the truth").ptr());
    return nullptr;
  });
  return is;
}

PyObject* to_float(PyObject* self) {
  return raising([&] { return PyNumber_Float(only_element(self, "float()").ptr()); });
}

PyObject* to_int(PyObject* self) {
  return raising([&] { return PyNumber_Long(only_element(self, "int()").ptr()); });
}

PyObject* to_index(PyObject* self) {
  return raising([&] {
    const array::DType dtype = self_of(self).view.dtype;
    if (array::properties(dtype).is_float || dtype == array::DType::boolean) {
      throw nb::type_error("only arrays of integers can be an index");
    }
    return PyNumber_Index(only_element(self, "an index").ptr());
  });
}

PyObject* repr(PyObject* self) {
  const nb::object& function = functions().of[kRepr];
  if (function.is_valid()) return PyObject_CallFunctionObjArgs(function.ptr(), self, nullptr);
  return PyUnicode_FromString("<hoist.graph.Array>");
}

template <typename Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

const PyType_Slot slots[] = {
    {Py_nb_add, slot(binary<kAdd>)},
    {Py_nb_subtract, slot(binary<kSubtract>)},
    {Py_nb_multiply, slot(binary<kMultiply>)},
    {Py_nb_true_divide, slot(binary<kDivide>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(binary<kMatmul>)},
    {Py_nb_floor_divide, slot(binary<kFloorDivide>)},
    {Py_nb_remainder, slot(binary<kRemainder>)},
    {Py_nb_and, slot(binary<kAnd>)},
    {Py_nb_or, slot(binary<kOr>)},
    {Py_nb_xor, slot(binary<kXor>)},
    {Py_nb_lshift, slot(binary<kLeftShift>)},
    {Py_nb_rshift, slot(binary<kRightShift>)},
    {Py_nb_inplace_add, slot(in_place<kAdd>)},
    {Py_nb_inplace_subtract, slot(in_place<kSubtract>)},
    {Py_nb_inplace_multiply, slot(in_place<kMultiply>)},
    {Py_nb_inplace_true_divide, slot(in_place<kDivide>)},
    {Py_nb_inplace_power, slot(power_in_place)},
    {Py_nb_inplace_matrix_multiply, slot(in_place<kMatmul>)},
    {Py_nb_inplace_floor_divide, slot(in_place<kFloorDivide>)},
    {Py_nb_inplace_remainder, slot(in_place<kRemainder>)},
    {Py_nb_inplace_and, slot(in_place<kAnd>)},
    {Py_nb_inplace_or, slot(in_place<kOr>)},
    {Py_nb_inplace_xor, slot(in_place<kXor>)},
    {Py_nb_inplace_lshift, slot(in_place<kLeftShift>)},
    {Py_nb_inplace_rshift, slot(in_place<kRightShift>)},
    {Py_nb_negative, slot(unary<kNegative>)},
    {Py_nb_positive, slot(positive)},
    {Py_nb_absolute, slot(unary<kAbsolute>)},
    {Py_nb_invert, slot(unary<kInvert>)},
    {Py_nb_bool, slot(truth)},
    {Py_nb_float, slot(to_float)},
    {Py_nb_int, slot(to_int)},
    {Py_nb_index, slot(to_index)},
    {Py_tp_richcompare, slot(compare)},
    {Py_tp_repr, slot(repr)},
};

}  // namespace

std::span<const PyType_Slot> operator_slots() { return slots; }

PyObject* take(PyObject* array, PyObject* indices) {
  const nb::object& function = functions().of[kTake];
  if (!function.is_valid()) return no_function(kTake);
  const nb::object axis = nb::int_(0);
  PyObject* const arguments[] = {array, indices, axis.ptr()};
  return PyObject_Vectorcall(function.ptr(), arguments, 2, functions().axis.ptr());
}

void define_array_operators(nb::module_& module) {
  // {"add": function, …, "repr": function, "take": function}
  module.def("set_operators", [](const nb::dict& given) {
    for (size_t i = 0; i < kOperators; ++i) {
      const nb::str name(kNames[i].data(), kNames[i].size());
      functions().of[i] = given.contains(name) ? nb::object(given[name]) : nb::object();
    }
  });
}

}  // namespace hoist::python
