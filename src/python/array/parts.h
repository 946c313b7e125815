// The parts of the type Array, each of which has its file.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>

#include "device/device.h"
#include "python/array/array.h"
#include "python/dlpack.h"

namespace hoist::python {

std::span<const PyType_Slot> index_slots();     // index.cc
std::span<const PyType_Slot> operator_slots();  // operators.cc
std::span<const PyType_Slot> buffer_slots();    // buffer.cc
PyGetSetDef* array_attributes();                // attributes.cc
// Getters of exports.cc.
PyObject* array_interface(PyObject* self, void*);
PyObject* cuda_array_interface(PyObject* self, void*);

void define_array_attributes(nanobind::module_& module);
void define_array_methods(nanobind::module_& module);   // methods.cc
void define_array_exports(nanobind::module_& module);   // exports.cc
void define_array_creation(nanobind::module_& module);  // creation.cc
void define_array_operators(nanobind::module_& module);

// What has memory of its own that can be used where it lies; none: the object is no array.
// Unsupported for types and devices that an Array cannot have; `who` names it: "input 0".
std::optional<Array> imported(nanobind::handle object, const std::string& who = "the array");
// Points into the array.
DLTensor dl_tensor(Array& array);
// Takes the tensor, which is dropped with its array, or now where it cannot be one.
template <typename Managed>
Array imported_tensor(Managed* tensor, const std::string& who = "the array");
// Takes what has DLPack, on any device.
Array imported_by_dlpack(nanobind::handle object, const std::string& who = "the array");
// Makes one of a number, or sequences of these; no type: the one that fits them.
Array array_of_numbers(nanobind::handle object, std::optional<array::DType> dtype);

// One element as a number of Python's.
nanobind::object element_object(array::DType dtype, const std::byte* at);
// Sets all elements.
void fill(const Array& array, nanobind::handle number);

// A key's part of an array: numbers, slices, None and one ellipsis.
array::View part_of(const array::View& view, nanobind::handle key);
// The elements in another shape, one extent of which may be -1: a view where they lie in a row,
// else a copy.
Array reshaped(const Array& array, std::span<const int64_t> shape);
// hoist.graph.take(array, indices, axis=0); nullptr with Python's exception set.
PyObject* take(PyObject* array, PyObject* indices);
// The view repeated along axes of length 1 and new ones. InvalidArgument where it does not fit.
array::View broadcast(const array::View& view, std::span<const int64_t> shape);

// GPUs.
device::Device& device_of(array::DeviceId id);
std::shared_ptr<std::byte> device_memory(array::DeviceId id, size_t bytes);
// A copy on a device, of row-major elements; it is there when this returns.
Array on_device(const Array& array, array::DeviceId device, device::StreamHandle stream);

}  // namespace hoist::python
