#include "python/hologram/arguments.h"

#include <string>

namespace hoist::python::hologram {
namespace {

// The type's name, as messages give it.
std::string type_name(PyObject* object) {
  return nanobind::type_name(nanobind::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))))
      .c_str();
}

bool refuse(PyObject* exception, const std::string& message) {
  PyErr_SetString(exception, message.c_str());
  return false;
}

// The name at a position of a list separated by spaces.
std::string_view name_at(std::string_view names, size_t position) {
  for (; position > 0; --position) names.remove_prefix(names.find(' ') + 1);
  return names.substr(0, names.find(' '));
}

}  // namespace

void refuse_range(const char* type, const char* least, const char* end) {
  PyErr_Format(PyExc_ValueError, "%s requires %s <= value < %s", type, least, end);
}

bool read_index(PyObject* argument, const char* type, const char* end, uint64_t most,
                uint64_t& value) {
  PyObject* const whole = PyNumber_Index(argument);
  if (whole == nullptr) {
    PyErr_Clear();
    return refuse(PyExc_TypeError,
                  "'" + type_name(argument) + "' object cannot be interpreted as an integer");
  }
  value = PyLong_AsUnsignedLongLong(whole);
  Py_DECREF(whole);
  const bool failed = PyErr_Occurred() != nullptr;
  if (failed) PyErr_Clear();
  if (failed || value > most) {
    refuse_range(type, "0", end);
    return false;
  }
  return true;
}

bool read_i32(PyObject* argument, int32_t& value) {
  PyObject* const whole = PyNumber_Index(argument);
  if (whole == nullptr) {
    PyErr_Clear();
    return refuse(PyExc_TypeError,
                  "'" + type_name(argument) + "' object cannot be interpreted as an integer");
  }
  const long long number = PyLong_AsLongLong(whole);
  Py_DECREF(whole);
  const bool failed = PyErr_Occurred() != nullptr;
  if (failed) PyErr_Clear();
  if (failed || number < std::numeric_limits<int32_t>::min() ||
      number > std::numeric_limits<int32_t>::max()) {
    refuse_range("i32", "-2147483648", "2147483648");
    return false;
  }
  value = static_cast<int32_t>(number);
  return true;
}

bool read(PyObject* argument, std::string_view& value) {
  if (!PyUnicode_Check(argument)) {
    return refuse(PyExc_TypeError, "argument must be str, not " + type_name(argument));
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(argument, &size);
  if (text == nullptr) return false;
  value = {text, static_cast<size_t>(size)};
  return true;
}

bool Bytes::read(PyObject* argument) {
  if (PyObject_CheckBuffer(argument) != 0) {
    if (PyObject_GetBuffer(argument, &view_, PyBUF_C_CONTIGUOUS) == 0) {
      is_view_ = true;
      // Elements of other sizes are numbers, each of which is to be a byte.
      if (view_.itemsize == 1) {
        data_ = static_cast<const char*>(view_.buf);
        size_ = static_cast<size_t>(view_.len);
        return true;
      }
    } else {
      PyErr_Clear();
    }
  }
  PyObject* const sequence = PySequence_List(argument);
  if (sequence == nullptr) return false;
  const bool done = read_elements(sequence);
  Py_DECREF(sequence);
  return done;
}

bool Bytes::read_elements(PyObject* sequence) {
  const Py_ssize_t count = PyList_Size(sequence);
  copy_.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    uint8_t byte = 0;
    if (!hologram::read(PyList_GetItem(sequence, i), byte)) return false;
    copy_.push_back(static_cast<char>(byte));
  }
  data_ = copy_.data();
  size_ = copy_.size();
  return true;
}

bool arrange(const char* function, const char* names, size_t expected, PyObject* const* given,
             size_t positional, PyObject* keywords, PyObject** ordered) {
  const std::string call = std::string(function) + "()";
  if (positional > expected) {
    return refuse(PyExc_TypeError, call + " takes " + std::to_string(expected) +
                                       " positional arguments but " + std::to_string(positional) +
                                       " were given");
  }
  for (size_t i = 0; i < expected; ++i) ordered[i] = i < positional ? given[i] : nullptr;
  const Py_ssize_t count = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  for (Py_ssize_t k = 0; k < count; ++k) {
    std::string_view keyword;
    if (!read(PyTuple_GetItem(keywords, k), keyword)) return false;
    size_t at = 0;
    while (at < expected && name_at(names, at) != keyword) ++at;
    const std::string quoted = "'" + std::string(keyword) + "'";
    if (at == expected) {
      return refuse(PyExc_TypeError, call + " got an unexpected keyword argument " + quoted);
    }
    if (ordered[at] != nullptr) {
      return refuse(PyExc_TypeError, call + " got multiple values for argument " + quoted);
    }
    ordered[at] = given[positional + static_cast<size_t>(k)];
  }
  for (size_t i = 0; i < expected; ++i) {
    if (ordered[i] == nullptr) {
      return refuse(PyExc_TypeError,
                    call + " missing required argument: '" + std::string(name_at(names, i)) + "'");
    }
  }
  return true;
}

}  // namespace hoist::python::hologram
