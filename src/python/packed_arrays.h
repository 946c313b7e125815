// Arrays that hoist._packed is given, on the CPU or on a GPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "device/stream.h"

namespace hoist::python {

struct GivenArray {
  std::string who;  // for errors
  void* data = nullptr;
  std::optional<int> gpu;  // none: the CPU
  uint8_t code = 0;        // of DLPack's types
  uint8_t bits = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  device::StreamHandle stream;   // that its framework works on; of a GPU's

  bool is_bf16() const;  // also as 16-bit integers without a sign, which NumPy has
  bool is_integer(uint8_t wanted_bits) const;
  bool is_byte() const;
  // Whether elements lie without gaps, the last axis first.
  bool is_dense() const;

  nanobind::ndarray<nanobind::ro> kept;  // what keeps the memory, where it is not the object
};

// By DLPack's exchange API, else by DLPack or the buffer protocol. `stream`: a CUDA stream's
// address as frameworks give it, instead of the framework's current one; 0 is the default stream.
// TypeError for what is no array.
GivenArray given_array(nanobind::handle object, const char* who,
                       const std::optional<uintptr_t>& stream);
// One that is written.
GivenArray given_output(nanobind::handle object, const char* who,
                        const std::optional<uintptr_t>& stream);

// InvalidArgument.
[[noreturn]] void refuse(const std::string& message);

// Elements of 16 bits, so many axes, the last one without gaps, rows that do not overlap.
void check_bf16(const GivenArray& array, size_t rank);
// The same, and this shape.
void check_shape(const GivenArray& array, std::initializer_list<int64_t> shape);
// All on one device.
void check_together(const GivenArray& first, std::initializer_list<const GivenArray*> others);
// Elements from one row of a matrix to the next.
uint64_t row_stride(const GivenArray& matrix);

// The stream of this address, as frameworks give it.
device::Stream borrowed_stream(device::Device& gpu, uintptr_t stream);
// The stream that the array's framework works on, of an array on a GPU.
device::Stream stream_of(const GivenArray& array);

}  // namespace hoist::python
