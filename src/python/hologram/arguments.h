// Arguments of the calls of hologram_ffi, checked as the original checks them: whole numbers by
// __index__ and range, numbers by float(), text as str.
//
// A conversion that fails has set Python's exception.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace hoist::python::hologram {

// Bytes of an argument, without a copy where it has the buffer protocol.
class Bytes {
 public:
  Bytes() = default;
  ~Bytes() {
    if (is_view_) PyBuffer_Release(&view_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  bool read(PyObject* argument);
  std::string_view get() const { return {data_, size_}; }

 private:
  bool read_elements(PyObject* sequence);

  Py_buffer view_{};
  bool is_view_ = false;
  std::vector<char> copy_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Sets ValueError: "u32 requires 0 <= value < 4294967296".
void refuse_range(const char* type, const char* least, const char* end);
bool read_index(PyObject* argument, const char* type, const char* end, uint64_t most,
                uint64_t& value);
bool read_i32(PyObject* argument, int32_t& value);

// Where a positional argument `position` of `names` lies among those of a call with keywords.
// `names` are separated by spaces. False with TypeError set where they do not fit.
bool arrange(const char* function, const char* names, size_t expected, PyObject* const* given,
             size_t positional, PyObject* keywords, PyObject** ordered);

inline bool read(PyObject* argument, uint64_t& value) {
  if (PyLong_Check(argument)) [[likely]] {
    value = PyLong_AsUnsignedLongLong(argument);
    if (value != std::numeric_limits<uint64_t>::max()) return true;
    if (PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();
  }
  return read_index(argument, "u64", "18446744073709551616", std::numeric_limits<uint64_t>::max(),
                    value);
}

template <typename Small>
bool read_small(PyObject* argument, const char* type, const char* end, Small& value) {
  constexpr uint64_t kMost = std::numeric_limits<Small>::max();
  if (PyLong_Check(argument)) [[likely]] {
    const uint64_t whole = PyLong_AsUnsignedLongLong(argument);
    value = static_cast<Small>(whole);
    if (whole <= kMost) return true;
    PyErr_Clear();
  }
  uint64_t whole = 0;
  if (!read_index(argument, type, end, kMost, whole)) return false;
  value = static_cast<Small>(whole);
  return true;
}

inline bool read(PyObject* argument, uint32_t& value) {
  return read_small(argument, "u32", "4294967296", value);
}
inline bool read(PyObject* argument, uint8_t& value) {
  return read_small(argument, "u8", "256", value);
}
inline bool read(PyObject* argument, int32_t& value) { return read_i32(argument, value); }

inline bool read(PyObject* argument, float& value) {
  const double number = PyFloat_AsDouble(argument);
  value = static_cast<float>(number);
  return number != -1.0 || PyErr_Occurred() == nullptr;
}

bool read(PyObject* argument, std::string_view& value);
inline bool read(PyObject* argument, Bytes& value) { return value.read(argument); }
inline bool read(PyObject* argument, PyObject*& value) {
  value = argument;
  return true;
}

}  // namespace hoist::python::hologram
