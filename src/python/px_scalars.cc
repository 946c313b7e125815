#include "python/px_scalars.h"

#include <bit>
#include <cmath>

#include "ir/arithmetic.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

[[noreturn]] void refuse_type(nb::handle number, ir::Scalar type, const std::string& who,
                              const char* wanted) {
  const std::string message = who + " is " + std::string(ir::name(type)) + ", which takes " +
                              wanted + ", not " + nb::type_name(number.type()).c_str();
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

[[noreturn]] void refuse_value(nb::handle number, ir::Scalar type, const std::string& who) {
  raise({ErrorCode::invalid_argument, who + " is " + std::string(ir::name(type)) +
                                          ", which does not reach to " + nb::str(number).c_str()});
}

uint64_t real_bits(nb::handle number, ir::Scalar type, const std::string& who) {
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    const bool is_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
    PyErr_Clear();
    if (is_large) refuse_value(number, type, who);
    refuse_type(number, type, who, "a number");
  }
  const uint64_t bits = ir::cast_bits(ir::Scalar::f64, type, std::bit_cast<uint64_t>(value));
  if (std::isfinite(value) && !std::isfinite(ir::real_of(type, bits))) {
    refuse_value(number, type, who);
  }
  return bits;
}

}  // namespace

uint64_t px_scalar(nb::handle number, ir::Scalar type, const std::string& who) {
  if (ir::is_float(type)) return real_bits(number, type, who);
  nb::object integer = nb::steal(PyNumber_Index(number.ptr()));
  if (!integer.is_valid()) {
    PyErr_Clear();
    // NumPy's bool is no integer.
    const bool is_truth = type == ir::Scalar::boolean && nb::hasattr(number, "dtype");
    if (!is_truth) {
      refuse_type(number, type, who, type == ir::Scalar::boolean ? "a bool" : "an int");
    }
    const int truth = PyObject_IsTrue(number.ptr());
    if (truth < 0) throw nb::python_error();
    return static_cast<uint64_t>(truth);
  }
  if (!ir::is_signed(type)) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(integer.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse_value(number, type, who);
    }
    if (value > ir::mask(type)) refuse_value(number, type, who);
    return value;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  const uint64_t bits = static_cast<uint64_t>(value) & ir::mask(type);
  if (overflow != 0 || ir::integer_of(type, bits) != value) refuse_value(number, type, who);
  return bits;
}

}  // namespace hoist::python
