#include "python/graph_gpu_arrays.h"

#include <nanobind/ndarray.h>

#include <atomic>
#include <string_view>

#include "python/errors.h"
#include "python/graph_arrays.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;
using gp::DType;

std::atomic<bool> in_use{false};

// DLPack's codes.
constexpr uint8_t kInt = 0;
constexpr uint8_t kUInt = 1;
constexpr uint8_t kFloat = 2;
constexpr uint8_t kBfloat = 4;
constexpr uint8_t kBool = 6;

struct Code {
  DType dtype;
  uint8_t code;
  uint8_t bits;
  const char* typestr;  // of NumPy's array interface
};
constexpr Code kCodes[] = {
    {DType::boolean, kBool, 8, "|b1"}, {DType::i8, kInt, 8, "|i1"},
    {DType::i16, kInt, 16, "<i2"},     {DType::i32, kInt, 32, "<i4"},
    {DType::i64, kInt, 64, "<i8"},     {DType::u8, kUInt, 8, "|u1"},
    {DType::u16, kUInt, 16, "<u2"},    {DType::u32, kUInt, 32, "<u4"},
    {DType::u64, kUInt, 64, "<u8"},    {DType::f16, kFloat, 16, "<f2"},
    {DType::bf16, kBfloat, 16, ""},    {DType::f32, kFloat, 32, "<f4"},
    {DType::f64, kFloat, 64, "<f8"},
};

[[noreturn]] void refuse_type(nb::handle object, const std::string& who) {
  std::string name = "of another type";
  if (nb::hasattr(object, "dtype")) {
    const nb::object dtype = object.attr("dtype");
    name = nb::str(dtype).c_str();
  }
  raise({ErrorCode::unsupported, who + " is " + name + ": programs do not compute with it"});
}

DType dtype_of(uint8_t code, uint8_t bits, uint16_t lanes, nb::handle object,
               const std::string& who) {
  for (const Code& known : kCodes) {
    if (lanes == 1 && known.code == code && known.bits == bits) return known.dtype;
  }
  refuse_type(object, who);
}

const Code& code_of(DType dtype) {
  for (const Code& known : kCodes) {
    if (known.dtype == dtype) return known;
  }
  raise({ErrorCode::unsupported, "a result of a type that DLPack has not"});
}

bool is_dense(const DLTensor& tensor) {
  int64_t stride = 1;
  bool fits = true;
  for (int32_t i = tensor.ndim; tensor.strides != nullptr && i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    fits &= tensor.shape[i] == 1 || tensor.strides[i] == stride;
    stride *= tensor.shape[i];
  }
  return fits;
}

GpuArray of_exchange(const DLPackExchangeApi& api, nb::handle object, const std::string& who) {
  DLTensor tensor{};
  if (api.view_of_object(object.ptr(), &tensor) != 0) throw nb::python_error();
  GpuArray array;
  array.api = &api;
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  array.gpu = tensor.device_id;
  array.dtype = dtype_of(tensor.code, tensor.bits, tensor.lanes, object, who);
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  array.is_contiguous = is_dense(tensor);
  if (api.current_stream(kDlpackCuda, array.gpu, &array.stream.pointer) != 0) {
    throw nb::python_error();
  }
  array.owner = nb::borrow(object);
  return array;
}

// The producer lets the legacy default stream, number 1, wait for what writes the array.
GpuArray of_dlpack(nb::handle object, const std::string& who) {
  const nb::object capsule = object.attr("__dlpack__")(nb::arg("stream") = 1);
  const auto given = nb::cast<nb::ndarray<>>(capsule);
  GpuArray array;
  array.data = given.data();
  array.gpu = given.device_id();
  array.dtype = dtype_of(given.dtype().code, given.dtype().bits, given.dtype().lanes, object, who);
  int64_t stride = 1;
  for (size_t i = given.ndim(); i-- > 0;) {
    const auto extent = static_cast<int64_t>(given.shape(i));
    if (extent > 1 && given.stride(i) != stride) array.is_contiguous = false;
    stride *= extent;
    array.shape.insert(array.shape.begin(), extent);
  }
  if (given.size() == 0) array.is_contiguous = true;
  array.owner = nb::make_tuple(object, capsule);
  return array;
}

GpuArray of_interface(nb::handle object, const std::string& who) {
  const nb::dict interface = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const nb::tuple data = nb::cast<nb::tuple>(interface["data"]);
  const std::string typestr = nb::cast<nb::str>(interface["typestr"]).c_str();
  GpuArray array;
  const Code* type = nullptr;
  for (const Code& known : kCodes) {
    if (typestr == known.typestr) type = &known;
  }
  if (type == nullptr) refuse_type(object, who);
  array.dtype = type->dtype;
  array.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(data[0]));
  array.is_read_only = nb::cast<bool>(data[1]);
  for (const nb::handle extent : nb::cast<nb::tuple>(interface["shape"])) {
    array.shape.push_back(nb::cast<int64_t>(extent));
  }
  const nb::object strides = interface.contains("strides") ? interface["strides"] : nb::none();
  int64_t stride = type->bits / 8;
  for (size_t i = array.shape.size(); !strides.is_none() && i-- > 0;) {
    if (array.shape[i] > 1 && nb::cast<int64_t>(strides[i]) != stride) array.is_contiguous = false;
    stride *= array.shape[i];
  }
  const nb::object stream = interface.contains("stream") ? interface["stream"] : nb::none();
  if (!stream.is_none() && nb::cast<uintptr_t>(stream) > 1) {
    array.stream.pointer = reinterpret_cast<void*>(nb::cast<uintptr_t>(stream));
  }
  array.owner = nb::borrow(object);
  return array;
}

const DLPackExchangeApi* exchange_of(nb::handle object) {
  const DLPackExchangeApi* const api = ExchangeApi().of(object.ptr());
  return api != nullptr && api->current_stream != nullptr ? api : nullptr;
}

}  // namespace

bool is_gpu_in_use() { return in_use.load(std::memory_order_relaxed); }
void gpu_was_used() { in_use.store(true, std::memory_order_relaxed); }

bool is_on_gpu(nb::handle object) {
  if (const Array* const array = array_of(object.ptr())) {
    return array->view.device.kind == array::DeviceKind::cuda;
  }
  // CuPy's arrays are buffers, too, wherever they lie.
  if (nb::hasattr(object, "__dlpack_device__")) {
    const nb::tuple where = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
    return nb::cast<int>(where[0]) == kDlpackCuda;
  }
  return PyObject_CheckBuffer(object.ptr()) == 0 && nb::hasattr(object, "__cuda_array_interface__");
}

GpuArray gpu_array(nb::handle object, const std::string& who) {
  if (const DLPackExchangeApi* const api = exchange_of(object)) {
    return of_exchange(*api, object, who);
  }
  if (nb::hasattr(object, "__cuda_array_interface__")) return of_interface(object, who);
  return of_dlpack(object, who);
}

nb::object allocated(const DLPackExchangeApi& api, const gp::Node& node, int gpu, void** data) {
  const Code& code = code_of(node.dtype);
  gp::Extents shape = node.shape;
  DLTensor prototype{};
  prototype.device_type = kDlpackCuda;
  prototype.device_id = gpu;
  prototype.ndim = static_cast<int32_t>(shape.size());
  prototype.code = code.code;
  prototype.bits = code.bits;
  prototype.lanes = 1;
  prototype.shape = shape.data();
  DLManagedTensorVersioned* tensor = nullptr;
  const auto set_error = [](void*, const char*, const char* message) {
    PyErr_SetString(PyExc_MemoryError, message);
  };
  if (api.allocate(&prototype, &tensor, nullptr, set_error) != 0) {
    if (PyErr_Occurred() == nullptr) PyErr_NoMemory();
    throw nb::python_error();
  }
  if (data != nullptr) {
    *data = static_cast<std::byte*>(tensor->tensor.data) + tensor->tensor.byte_offset;
  }
  void* object = nullptr;
  if (api.to_object(tensor, &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

nb::object new_gpu_array(const std::vector<GpuArray>& given, nb::sequence objects,
                         const gp::Node& node) {
  for (const GpuArray& array : given) {
    if (array.api == nullptr || array.api->allocate == nullptr) continue;
    return allocated(*array.api, node, array.gpu, nullptr);
  }
  nb::list shape;
  for (const int64_t extent : node.shape) shape.append(extent);
  for (const nb::handle object : objects) {
    const nb::object name = object.type().attr("__module__");
    if (!std::string_view(nb::str(name).c_str()).starts_with("cupy")) continue;
    return nb::module_::import_("cupy").attr("empty")(nb::tuple(shape),
                                                      graph_dtype_name(node.dtype).c_str());
  }
  raise({ErrorCode::unsupported,
         "arrays of this kind cannot be made here: give out=, or PyTorch's or CuPy's arrays"});
}

bool view_on_gpu(const DLPackExchangeApi& api, PyObject* object, DLTensor& view) {
  if (api.view_of_object(object, &view) != 0) {
    PyErr_Clear();  // the other way says why
    return false;
  }
  return view.device_type == kDlpackCuda && view.lanes == 1 && is_dense(view);
}

bool fits_node(const DLTensor& view, const gp::Node& node) {
  if (static_cast<size_t>(view.ndim) != node.shape.size()) return false;
  for (size_t i = 0; i < node.shape.size(); ++i) {
    if (view.shape[i] != node.shape[i]) return false;
  }
  const Code& code = code_of(node.dtype);
  return view.code == code.code && view.bits == code.bits;
}

}  // namespace hoist::python
