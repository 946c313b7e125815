// Arrays that hoist._packed is given, on the CPU or on a GPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
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

}  // namespace hoist::python
