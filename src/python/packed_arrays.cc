#include "python/packed_arrays.h"

#include <algorithm>

#include "python/dlpack.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

// DLPack's codes.
constexpr uint8_t kInt = 0;
constexpr uint8_t kUInt = 1;
constexpr uint8_t kBfloat = 4;
// The legacy default stream, as DLPack and CUDA number it.
constexpr uintptr_t kLegacyStream = 1;

uintptr_t numbered(uintptr_t stream) { return stream == 0 ? kLegacyStream : stream; }

void fill(GivenArray& array, const DLTensor& tensor) {
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  array.code = tensor.code;
  array.bits = tensor.lanes == 1 ? tensor.bits : 0;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  array.strides.resize(array.shape.size());
  int64_t stride = 1;
  for (size_t i = array.shape.size(); i-- > 0;) {
    array.strides[i] = tensor.strides == nullptr ? stride : tensor.strides[i];
    stride *= array.shape[i];
  }
}

void place(GivenArray& array, int32_t device_type, int32_t device_id) {
  if (device_type == kDlpackCuda) {
    array.gpu = device_id;
  } else if (device_type != kDlpackCpu && device_type != kDlpackCudaHost) {
    raise({ErrorCode::unsupported, array.who + " lies neither on the CPU nor on a CUDA GPU"});
  }
}

void exchange(GivenArray& array, const DLPackExchangeApi& api, nb::handle object,
              const std::optional<uintptr_t>& stream) {
  DLTensor tensor{};
  if (api.view_of_object(object.ptr(), &tensor) != 0) throw nb::python_error();
  fill(array, tensor);
  place(array, tensor.device_type, tensor.device_id);
  if (!array.gpu || stream) return;
  if (api.current_stream(kDlpackCuda, *array.gpu, &array.stream.pointer) != 0) {
    throw nb::python_error();
  }
}

bool is_on_gpu(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  return nb::cast<int>(nb::cast<nb::tuple>(object.attr("__dlpack_device__")())[0]) == kDlpackCuda;
}

template <typename Array>
void import_array(GivenArray& array, nb::handle object, const std::optional<uintptr_t>& stream) {
  nb::object source = nb::borrow(object);
  if (is_on_gpu(object)) {
    // The producer lets the stream wait for what writes the array.
    source =
        object.attr("__dlpack__")(nb::arg("stream") = numbered(stream.value_or(kLegacyStream)));
  }
  Array given;
  if (!nb::try_cast(source, given)) {
    throw nb::type_error((array.who + " is no array, or may not be written").c_str());
  }
  array.data = const_cast<void*>(static_cast<const void*>(given.data()));
  array.code = given.dtype().code;
  array.bits = given.dtype().lanes == 1 ? given.dtype().bits : 0;
  for (size_t i = 0; i < given.ndim(); ++i) {
    array.shape.push_back(static_cast<int64_t>(given.shape(i)));
    array.strides.push_back(given.stride(i));
  }
  place(array, given.device_type(), given.device_id());
  array.kept = nb::ndarray<nb::ro>(given);
}

template <typename Array>
GivenArray read_array(nb::handle object, const char* who, const std::optional<uintptr_t>& stream) {
  GivenArray array;
  array.who = who;
  const DLPackExchangeApi* const api = exchange_api_of(object.type());
  if (api != nullptr && api->current_stream != nullptr) {
    exchange(array, *api, object, stream);
  } else {
    import_array<Array>(array, object, stream);
  }
  if (stream) array.stream.pointer = reinterpret_cast<void*>(*stream);
  if (array.gpu && array.stream.pointer == nullptr) {
    array.stream.pointer = reinterpret_cast<void*>(kLegacyStream);
  }
  return array;
}

}  // namespace

bool GivenArray::is_bf16() const { return bits == 16 && (code == kBfloat || code == kUInt); }
bool GivenArray::is_integer(uint8_t wanted_bits) const {
  return code == kInt && bits == wanted_bits;
}
bool GivenArray::is_byte() const { return code == kUInt && bits == 8; }

bool GivenArray::is_dense() const {
  int64_t stride = 1;
  bool fits = true;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    fits &= shape[i] == 1 || strides[i] == stride;
    stride *= shape[i];
  }
  return fits;
}

GivenArray given_array(nb::handle object, const char* who, const std::optional<uintptr_t>& stream) {
  return read_array<nb::ndarray<nb::ro>>(object, who, stream);
}

GivenArray given_output(nb::handle object, const char* who,
                        const std::optional<uintptr_t>& stream) {
  return read_array<nb::ndarray<>>(object, who, stream);
}

void refuse(const std::string& message) { raise({ErrorCode::invalid_argument, message}); }

void check_bf16(const GivenArray& array, size_t rank) {
  if (!array.is_bf16()) refuse(array.who + " is neither bfloat16 nor uint16");
  if (array.shape.size() != rank) {
    refuse(array.who + " has " + std::to_string(array.shape.size()) + " axes, not " +
           std::to_string(rank));
  }
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return;
  if (rank > 0 && array.shape[rank - 1] > 1 && array.strides[rank - 1] != 1) {
    refuse(array.who + " has gaps in its last axis: give a contiguous array");
  }
  if (rank == 2 && array.shape[0] > 1 && array.strides[0] < array.shape[1]) {
    refuse(array.who + " has rows that lie in one another: give a contiguous array");
  }
}

void check_shape(const GivenArray& array, std::initializer_list<int64_t> shape) {
  check_bf16(array, shape.size());
  if (std::equal(shape.begin(), shape.end(), array.shape.begin())) return;
  std::string wanted;
  for (const int64_t extent : shape)
    wanted += (wanted.empty() ? "" : " x ") + std::to_string(extent);
  refuse(array.who + " must be " + wanted);
}

void check_together(const GivenArray& first, std::initializer_list<const GivenArray*> others) {
  for (const GivenArray* other : others) {
    if (other->gpu != first.gpu) {
      refuse(other->who + " and " + first.who + " lie on two devices: move them to one");
    }
  }
}

uint64_t row_stride(const GivenArray& matrix) {
  return matrix.shape[0] > 1 ? static_cast<uint64_t>(matrix.strides[0])
                             : static_cast<uint64_t>(matrix.shape[1]);
}

device::Stream borrowed_stream(device::Device& gpu, uintptr_t stream) {
  const device::StreamHandle handle = {reinterpret_cast<void*>(numbered(stream))};
  return device::Stream::borrow(gpu, handle);
}

device::Stream stream_of(const GivenArray& array) {
  return device::Stream::borrow(*value(device::cuda_device(*array.gpu)), array.stream);
}

}  // namespace hoist::python
