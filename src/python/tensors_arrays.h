// Elements of tensors between Python and the engine: flat arrays of bytes, with a dtype's name and
// a shape beside them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensors/tensor.h"

namespace hoist::python {

using ByteArray = nanobind::ndarray<nanobind::numpy, uint8_t, nanobind::ndim<1>>;
using InputBytes =
    nanobind::ndarray<const uint8_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

inline std::span<const std::byte> bytes_of(const InputBytes& array) {
  return {reinterpret_cast<const std::byte*>(array.data()), array.size()};
}

// An array that owns `owner`, whose bytes are its own.
template <typename Owner>
ByteArray byte_array(std::unique_ptr<Owner> owner, std::byte* data, size_t size) {
  nanobind::capsule free(owner.get(), [](void* it) noexcept { delete static_cast<Owner*>(it); });
  (void)owner.release();
  return ByteArray(reinterpret_cast<uint8_t*>(data), {size}, free);
}

// A new array that `read` fills, without the interpreter's lock. `tensor` is for messages.
ByteArray read_into_new(const std::string& tensor, uint64_t size,
                        const std::function<Status(std::span<std::byte>)>& read);

std::string_view dtype_name(tensors::DType dtype);
// Raises Unsupported where there is none of that name.
tensors::DType dtype_of(const std::string& name);
nanobind::tuple shape_tuple(const tensors::Shape& shape);

}  // namespace hoist::python
