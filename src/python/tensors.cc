// Readers and writers of .holo and model files for hoist.tensors. Tensors cross as flat arrays of
// bytes with a dtype's name and a shape; python/hoist/_frameworks.py makes of them what its user
// wants.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/threads.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/released_gil.h"
#include "python/tensors_arrays.h"
#include "python/tensors_device.h"
#include "python/tensors_metadata.h"
#include "python/tensors_path.h"
#include "python/tensors_plain.h"
#include "tensors/file/holo_slice.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/reader.h"
#include "tensors/file/writer.h"
#include "tensors/model/model_slice.h"
#include "tensors/model/model_source.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using namespace tensors;

// (name, what frameworks call it, who has it in Python) of all element types.
nb::list element_types() {
  constexpr const char* kHolders[] = {"", "numpy", "ml_dtypes", "torch"};
  nb::list list;
  for (const DTypeProperties& type : array::all_dtypes()) {
    list.append(
        nb::make_tuple(type.name, type.framework, kHolders[static_cast<size_t>(type.holder)]));
  }
  return list;
}

// (name, dtype, shape, encoding, [(bytes, quality, cosine) of each prefix], stored_as)
nb::tuple describe(const HoloTensor& tensor) {
  const TensorDescription& description = tensor.description;
  nb::list prefixes;
  for (size_t i = 0; i < description.curve.prefixes.size(); ++i) {
    const QualityPoint& point = description.curve.prefixes[i];
    prefixes.append(nb::make_tuple(tensor.parts[i].bytes, point.quality, point.cosine));
  }
  return nb::make_tuple(tensor.name, dtype_name(description.dtype), shape_tuple(description.shape),
                        name(description.encoding), prefixes, tensor.stored_as);
}

// The tensor's memory goes over to the array.
ByteArray take_bytes(LoadedTensor& loaded) {
  auto bytes = std::make_unique<container::BlockBytes>(std::move(loaded.bytes));
  std::byte* const data = bytes->data();
  const size_t size = bytes->size();
  return byte_array(std::move(bytes), data, size);
}

// (bytes, quality, parts)
nb::tuple decode(const HoloTensorReader& reader, const std::string& tensor,
                 std::optional<double> target, std::optional<size_t> layers,
                 const std::vector<size_t>& fragments) {
  Result<LoadedTensor> loaded = [&] {
    const ReleasedGil released;
    return reader.decode(tensor, {target, layers, fragments}, {}, &ThreadPool::process());
  }();
  if (!loaded) raise(loaded.error());
  return nb::make_tuple(take_bytes(*loaded), loaded->quality, loaded->parts);
}

// Bytes that are no UTF-8 as os.fsdecode() gives them.
nb::object file_name(const std::string& name) {
  nb::object text =
      nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), Py_ssize_t(name.size())));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

nb::bytes to_bytes(Result<std::vector<std::byte>>&& result) {
  const std::vector<std::byte> bytes = value(std::move(result));
  return nb::bytes(bytes.data(), bytes.size());
}

// nanobind copies what looks copyable.
struct Model {
  explicit Model(ModelSource&& opened) : source(std::move(opened)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  ModelSource source;
};

const ModelTensor& tensor_of(const Model& model, size_t index) {
  if (index < model.source.tensors().size()) return model.source.tensors()[index];
  raise({ErrorCode::invalid_argument, "no such tensor"});
}

// (file, offset, bytes, whether the file has the elements there, aligned, as arrays hold them)
nb::tuple place(const Model& model, size_t index) {
  const ModelTensor& tensor = tensor_of(model, index);
  const bool is_as_held =
      tensor.order.is_standard() && !model.source.files()[tensor.file].is_decompressed;
  const bool is_aligned = tensor.offset % properties(tensor.dtype).bytes == 0;
  return nb::make_tuple(tensor.file, tensor.offset, tensor.bytes, is_as_held && is_aligned);
}

ByteArray read(const Model& model, size_t index) {
  const ModelTensor& tensor = tensor_of(model, index);
  return read_into_new(tensor.name, tensor.bytes,
                       [&](std::span<std::byte> into) { return model.source.read(tensor, into); });
}

// Start, step and count of each axis.
using Ranges = std::vector<std::tuple<uint64_t, uint64_t, uint64_t>>;

struct Part {
  std::vector<AxisRange> axes;
  uint64_t size = 0;  // bytes
};

Part part_of(DType dtype, const Ranges& ranges) {
  Part part;
  Shape shape;
  for (const auto& [start, step, count] : ranges) {
    part.axes.push_back({start, step, count});
    shape.push_back(count);
  }
  part.size = value(byte_count(dtype, shape));
  return part;
}

ByteArray read_part(const Model& model, size_t index, const Ranges& ranges) {
  const ModelTensor& tensor = tensor_of(model, index);
  const Part part = part_of(tensor.dtype, ranges);
  return read_into_new(tensor.name, part.size, [&](std::span<std::byte> into) {
    return read_slice(model.source, tensor, part.axes, into);
  });
}

ByteArray decode_part(const HoloTensorReader& reader, size_t index, const Ranges& ranges) {
  const std::vector<HoloTensor>& tensors = reader.header().tensors;
  if (index >= tensors.size()) raise({ErrorCode::invalid_argument, "no such tensor"});
  const Part part = part_of(tensors[index].description.dtype, ranges);
  return read_into_new(tensors[index].name, part.size, [&](std::span<std::byte> into) {
    return read_slice(reader, index, part.axes, into, &ThreadPool::process());
  });
}

HoloWriteOptions write_options(const std::string& encoding, uint32_t fragments, uint32_t parity,
                               const std::string& order, uint64_t seed,
                               const std::optional<std::string>& precision) {
  HoloWriteOptions options;
  const std::optional<HolographicEncoding> found = find_encoding(encoding);
  if (!found) raise({ErrorCode::invalid_argument, "no such encoding: " + encoding});
  if (order != "layer" && order != "tensor") {
    raise({ErrorCode::invalid_argument, "no such order: " + order + " (layer, tensor)"});
  }
  options.encode.encoding = *found;
  options.encode.fragments = fragments;
  options.encode.seed = seed;
  if (precision) options.encode.precision = dtype_of(*precision);
  options.parity = parity;
  options.order = order == "layer" ? FileOrder::layer : FileOrder::tensor;
  return options;
}

// Tensors in the order in which they lie behind `skeleton`, the header of a safetensors file.
class Writer {
 public:
  Writer(const FilePath& path, const nb::bytes& skeleton, uint64_t size,
         const HoloWriteOptions& options)
      : writer_(value(HoloTensorWriter::create(path.text, options))), offset_(skeleton.size()) {
    const auto* const data = static_cast<const std::byte*>(skeleton.data());
    file_ = value(writer_.add_file("model.safetensors", ModelFormat::safetensors, size,
                                   {data, skeleton.size()}));
  }

  void add(const std::string& name, const std::string& dtype, const Shape& shape,
           const InputBytes& bytes) {
    const TensorView view = {dtype_of(dtype), shape, bytes_of(bytes)};
    const Status status = [&] {
      const ReleasedGil released;
      return writer_.add(name, view, &ThreadPool::process(), {file_, offset_, ""});
    }();
    check(status);
    offset_ += bytes.size();
  }

  void finish() {
    const Status status = [&] {
      const ReleasedGil released;
      return writer_.finish();
    }();
    check(status);
  }

 private:
  HoloTensorWriter writer_;
  uint32_t file_ = 0;
  uint64_t offset_;
};

}  // namespace

void define_tensors(nb::module_& module) {
  module.def("element_types", &element_types);
  module.def("write_file", &write_file, "path"_a, "pieces"_a);
  nb::class_<HoloTensorReader>(module, "HoloReader")
      .def(nb::new_([](const FilePath& path) {
             Result<HoloTensorReader> reader = [&] {
               const ReleasedGil released;
               return HoloTensorReader::open(path.text);
             }();
             return std::make_unique<HoloTensorReader>(value(std::move(reader)));
           }),
           "path"_a)
      .def("outline",
           [](const HoloTensorReader& reader) {
             nb::list tensors;
             for (const HoloTensor& tensor : reader.header().tensors) {
               const TensorDescription& description = tensor.description;
               tensors.append(nb::make_tuple(tensor.name, dtype_name(description.dtype),
                                             shape_tuple(description.shape), tensor.stored_as,
                                             tensor.parts.size()));
             }
             return tensors;
           })
      .def(
          "describe",
          [](const HoloTensorReader& reader, size_t tensor) {
            if (tensor >= reader.header().tensors.size()) {
              raise({ErrorCode::invalid_argument, "no such tensor"});
            }
            return describe(reader.header().tensors[tensor]);
          },
          "tensor"_a)
      .def(
          "load_onto",
          [](const HoloTensorReader& reader, const std::string& device,
             const WantedTensors& wanted) { return load_onto(reader, device, wanted); },
          "device"_a, "wanted"_a)
      .def("decode", &decode, "name"_a, "target"_a = nb::none(), "layers"_a = nb::none(),
           "fragments"_a = std::vector<size_t>())
      .def("decode_part", &decode_part, "tensor"_a, "ranges"_a)
      .def_prop_ro("files",
                   [](const HoloTensorReader& reader) {
                     nb::list files;
                     for (const HoloFile& file : reader.header().files) {
                       files.append(nb::make_tuple(file_name(file.name), name(file.format)));
                     }
                     return files;
                   })
      .def("metadata",
           [](const HoloTensorReader& reader, size_t file) {
             const std::vector<std::byte> skeleton = value(reader.skeleton(file));
             const HoloFile& packed = reader.header().files[file];
             return metadata_pairs(packed.format, *container::memory_source(skeleton, packed.name));
           })
      .def("skeleton", [](const HoloTensorReader& reader, size_t file) {
        return to_bytes(reader.skeleton(file));
      });

  nb::class_<Model>(module, "ModelSource")
      .def(nb::new_([](const FilePath& path) {
             return std::make_unique<Model>(value(ModelSource::open({path.text})));
           }),
           "path"_a)
      .def("outline",
           [](const Model& model) {
             nb::list tensors;
             for (const ModelTensor& tensor : model.source.tensors()) {
               tensors.append(nb::make_tuple(tensor.name, dtype_name(tensor.dtype),
                                             shape_tuple(tensor.shape), tensor.stored_as));
             }
             return tensors;
           })
      .def("read", &read, "index"_a)
      .def(
          "read_groups",
          [](const Model& model, const std::vector<size_t>& indices, uint64_t most) {
            return read_groups(model.source, indices, most);
          },
          "indices"_a, "most"_a)
      .def("read_part", &read_part, "index"_a, "ranges"_a)
      .def(
          "load_onto",
          [](const Model& model, const std::string& device, const WantedTensors& wanted) {
            return load_onto(model.source, device, wanted);
          },
          "device"_a, "wanted"_a)
      .def("place", &place, "index"_a)
      .def_prop_ro("files",
                   [](const Model& model) {
                     nb::list files;
                     for (const ModelFile& file : model.source.files()) {
                       files.append(nb::make_tuple(file_name(file.name), name(file.format)));
                     }
                     return files;
                   })
      .def("metadata",
           [](const Model& model, size_t file) {
             const std::vector<std::byte> skeleton = value(model.source.skeleton(file));
             const ModelFile& about = model.source.files()[file];
             return metadata_pairs(about.format, *container::memory_source(skeleton, about.name));
           })
      .def("skeleton",
           [](const Model& model, size_t file) { return to_bytes(model.source.skeleton(file)); });

  nb::class_<QualityPolicy>(module, "QualityPolicy")
      .def(nb::init<double>(), "otherwise"_a)
      .def(
          "add",
          [](QualityPolicy& policy, const std::string& pattern, double quality, int priority) {
            if (!(quality >= 0 && quality <= 1)) {  // NaN neither
              raise({ErrorCode::invalid_argument,
                     "a quality of " + std::to_string(quality) + " for " + pattern + ": 0 to 1"});
            }
            policy.add({pattern, quality, priority});
          },
          "pattern"_a, "quality"_a, "priority"_a = 0)
      .def(
          "target",
          [](const QualityPolicy& policy, const std::string& name) { return policy.target(name); },
          "name"_a);

  nb::class_<Writer>(module, "HoloWriter")
      .def(nb::new_([](const FilePath& path, const nb::bytes& skeleton, uint64_t size,
                       const std::string& encoding, uint32_t fragments, uint32_t parity,
                       const std::string& order, uint64_t seed,
                       const std::optional<std::string>& precision) {
             return std::make_unique<Writer>(
                 path, skeleton, size,
                 write_options(encoding, fragments, parity, order, seed, precision));
           }),
           "path"_a, "skeleton"_a, "size"_a, "encoding"_a, "fragments"_a, "parity"_a, "order"_a,
           "seed"_a, "precision"_a.none())
      .def("add", &Writer::add, "name"_a, "dtype"_a, "shape"_a, "bytes"_a)
      .def("finish", &Writer::finish);
}

}  // namespace hoist::python
