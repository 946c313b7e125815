#include "python/tensors_arrays.h"

#include "container/reader.h"
#include "python/errors.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {

ByteArray read_into_new(const std::string& tensor, uint64_t size,
                        const std::function<Status(std::span<std::byte>)>& read) {
  auto bytes = std::make_unique<container::BlockBytes>(container::BlockBytes::allocate(size));
  if (bytes->size() != size) raise({ErrorCode::exhausted, "no memory for " + tensor});
  const Status status = [&] {
    const ReleasedGil released;
    return read(*bytes);
  }();
  check(status);
  std::byte* const data = bytes->data();
  return byte_array(std::move(bytes), data, size);
}

std::string_view dtype_name(tensors::DType dtype) { return tensors::properties(dtype).name; }

tensors::DType dtype_of(const std::string& name) {
  const tensors::DTypeProperties* const found = tensors::find_dtype(name);
  if (found == nullptr) raise({ErrorCode::unsupported, "no such element type: " + name});
  return found->dtype;
}

nb::tuple shape_tuple(const tensors::Shape& shape) {
  nb::list list;
  for (const uint64_t extent : shape) list.append(extent);
  return nb::tuple(list);
}

}  // namespace hoist::python
