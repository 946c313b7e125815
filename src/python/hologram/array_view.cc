#include "python/hologram/array_view.h"

#include <nanobind/ndarray.h>

#include <memory>
#include <string>

#include "python/hologram/call.h"
#include "python/hologram/calls.h"
#include "python/hologram/dlpack.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python::hologram {
namespace {

namespace ffi = graph::ffi;

constexpr auto kItem = static_cast<Py_ssize_t>(sizeof(float));

// Without signs: a stride that is never used, such as that of an empty array, may be any.
int64_t in_bytes(int64_t stride) {
  return static_cast<int64_t>(static_cast<uint64_t>(stride) * sizeof(float));
}

// What a Py_buffer points to, for as long as it is held.
struct BufferExtents {
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

// Whether the elements lie one behind the other, the last dimension's first, or the first one's.
bool lies_dense(const ArrayView& view, bool from_last) {
  if (view.elements() == 0) return true;
  int64_t stride = 1;
  const size_t rank = view.shape.size();
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = from_last ? rank - 1 - i : i;
    if (view.shape[d] != 1 && view.strides[d] != stride) return false;
    stride *= view.shape[d];
  }
  return true;
}

bool is_contiguous(const ArrayView& view) { return lies_dense(view, true); }

// Why a consumer that asks by these flags cannot have it; null where it can.
const char* refusal(const ArrayView& view, int flags) {
  const auto asks = [&](int flag) { return (flags & flag) == flag; };
  if (asks(PyBUF_WRITABLE) && view.is_read_only) return "the array is read-only";
  const bool by_rows = is_contiguous(view);
  const bool by_columns = lies_dense(view, false);
  const bool fits = asks(PyBUF_C_CONTIGUOUS)     ? by_rows
                    : asks(PyBUF_F_CONTIGUOUS)   ? by_columns
                    : asks(PyBUF_ANY_CONTIGUOUS) ? by_rows || by_columns
                    : asks(PyBUF_STRIDES)        ? true
                                                 : by_rows;
  return fits ? nullptr : "the array has gaps: ask for its strides";
}

int get_buffer(PyObject* object, Py_buffer* buffer, int flags) noexcept {
  const ArrayView& view = *nb::inst_ptr<ArrayView>(nb::handle(object));
  const bool has_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  const char* const refused = refusal(view, flags);
  buffer->obj = nullptr;
  if (refused != nullptr) {
    PyErr_SetString(PyExc_BufferError, refused);
    return -1;
  }
  std::unique_ptr<BufferExtents> extents;
  try {
    extents = std::make_unique<BufferExtents>();
    extents->shape.assign(view.shape.begin(), view.shape.end());
    for (const int64_t stride : view.strides) extents->strides.push_back(in_bytes(stride));
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
  static char format[] = "f";
  buffer->buf = view.data;
  buffer->obj = Py_NewRef(object);
  buffer->len = static_cast<Py_ssize_t>(view.elements()) * kItem;
  buffer->itemsize = kItem;
  buffer->readonly = view.is_read_only ? 1 : 0;
  buffer->ndim = static_cast<int>(view.shape.size());
  buffer->format = (flags & PyBUF_FORMAT) != 0 ? format : nullptr;
  buffer->shape = (flags & PyBUF_ND) != 0 ? extents->shape.data() : nullptr;
  buffer->strides = has_strides ? extents->strides.data() : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = extents.release();
  return 0;
}

void release_buffer(PyObject*, Py_buffer* buffer) noexcept {
  delete static_cast<BufferExtents*>(buffer->internal);
}

nb::tuple tuple_of(const std::vector<int64_t>& numbers) {
  nb::list list;
  for (const int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

nb::tuple byte_strides(const ArrayView& view) {
  nb::list list;
  for (const int64_t stride : view.strides) list.append(in_bytes(stride));
  return nb::tuple(list);
}

nb::dict array_interface(const ArrayView& view) {
  nb::dict interface;
  interface["shape"] = tuple_of(view.shape);
  interface["typestr"] = "<f4";
  interface["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(view.data), view.is_read_only);
  interface["strides"] =
      is_contiguous(view) ? nb::object(nb::none()) : nb::object(byte_strides(view));
  interface["version"] = 3;
  return interface;
}

nb::object dlpack(const ArrayView& view, nb::handle stream, nb::handle max_version,
                  nb::handle device, nb::handle copy) {
  if (!stream.is_none()) throw nb::buffer_error("the CPU has no streams: pass stream=None");
  if (!device.is_none() && !nb::make_tuple(1, 0).equal(device)) {
    throw nb::buffer_error("the array is in the CPU's memory, device (1, 0)");
  }
  const bool is_versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  return dlpack_capsule(view, is_versioned, !copy.is_none() && nb::cast<bool>(copy));
}

PyObject* new_view(ArrayView&& view) { return nb::cast(std::move(view)).release().ptr(); }

PyObject* buffer_view(uint64_t buffer) {
  Result<ffi::BufferFacts> facts = ffi::buffer_facts(buffer);
  if (!facts) return raise(facts.error());
  return new_view({.memory = std::move(facts->memory),
                   .data = facts->data,
                   .is_read_only = facts->is_read_only,
                   .shape = {facts->length},
                   .strides = {1}});
}

PyObject* tensor_view(uint64_t tensor) {
  Result<ffi::TensorFacts> facts = ffi::tensor_facts(tensor);
  if (!facts) return raise(facts.error());
  return new_view({.memory = std::move(facts->memory),
                   .data = facts->data,
                   .is_read_only = facts->is_read_only,
                   .shape = {facts->shape.begin(), facts->shape.end()},
                   .strides = {facts->strides.begin(), facts->strides.end()}});
}

PyObject* adopt(uint64_t executor, std::shared_ptr<std::byte> memory, size_t length,
                bool is_read_only) {
  if (length > UINT32_MAX) {
    return raise(
        fail(ErrorCode::invalid_argument, "the array has more than 4294967295 elements: split it"));
  }
  return to_python(
      ffi::adopt_buffer(executor, std::move(memory), static_cast<uint32_t>(length), is_read_only));
}

// An array of somebody else's, kept as long as its memory is used.
template <typename Array>
PyObject* adopt(uint64_t executor, Array&& array, bool is_read_only) {
  auto* const data = reinterpret_cast<std::byte*>(const_cast<float*>(array.data()));
  const size_t length = array.size();
  auto* const kept = new std::remove_cvref_t<Array>(std::forward<Array>(array));
  std::shared_ptr<std::byte> memory(data, [kept](std::byte*) {
    if (!nb::is_alive()) return;  // the interpreter is gone, and all its objects
    const nb::gil_scoped_acquire gil;
    delete kept;
  });
  return adopt(executor, std::move(memory), length, is_read_only);
}

// float32, row-major, on the CPU.
PyObject* buffer_from_array(uint64_t executor, PyObject* object) {
  const nb::handle array(object);
  if (ArrayView view = import_by_exchange(array); view.memory && is_contiguous(view)) {
    const auto length = static_cast<size_t>(view.elements());
    return adopt(executor, std::move(view.memory), length, view.is_read_only);
  }
  if (nb::ndarray<float, nb::c_contig, nb::device::cpu> writable;
      nb::try_cast(array, writable, false)) {
    return adopt(executor, std::move(writable), false);
  }
  if (nb::ndarray<const float, nb::c_contig, nb::device::cpu> readable;
      nb::try_cast(array, readable, false)) {
    return adopt(executor, std::move(readable), true);
  }
  PyErr_SetString(PyExc_TypeError,
                  "array must be of float32 without gaps on the CPU, with the buffer protocol or "
                  "DLPack: convert it by numpy.ascontiguousarray(array, dtype=numpy.float32)");
  return nullptr;
}

constexpr Call kBufferView{"buffer_view", "buffer_handle",
                           "buffer_view(buffer_handle)\n--\n\n"
                           "Its elements where they lie: an ArrayView, which keeps the memory.",
                           buffer_view};
constexpr Call kTensorView{"tensor_view", "tensor_handle",
                           "tensor_view(tensor_handle)\n--\n\n"
                           "Its elements where they lie: an ArrayView, which keeps the memory.",
                           tensor_view};
constexpr Call kBufferFromArray{
    "buffer_from_array", "executor_handle array",
    "buffer_from_array(executor_handle, array)\n--\n\n"
    "A linear buffer on an array of float32 where it lies. It keeps the "
    "array; read-only where that is.",
    buffer_from_array};

}  // namespace

PyMethodDef* view_methods() {
  static PyMethodDef methods[] = {
      method<kBufferView>(), method<kTensorView>(), method<kBufferFromArray>(), {}};
  return methods;
}

void define_array_view(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                {0, nullptr}};
  nb::class_<ArrayView>(module, "ArrayView", nb::type_slots(slots))
      .def_prop_ro("shape", [](const ArrayView& it) { return tuple_of(it.shape); })
      .def_prop_ro("strides", byte_strides)
      .def_prop_ro("nbytes", [](const ArrayView& it) { return it.elements() * kItem; })
      .def_prop_ro("readonly", [](const ArrayView& it) { return it.is_read_only; })
      .def_prop_ro("__array_interface__", array_interface)
      .def("__len__",
           [](const ArrayView& it) {
             if (it.shape.empty()) throw nb::type_error("a view without dimensions has no length");
             return it.shape[0];
           })
      .def("__dlpack__", dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__", [](const ArrayView&) { return nb::make_tuple(1, 0); })
      .attr(kExchangeAttribute) = exchange_capsule();
}

}  // namespace hoist::python::hologram
