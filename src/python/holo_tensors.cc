// One tensor in parts, for hoist.tensors: its description, the encoder and the decoder of
// tensors/builders.h. python/hoist/_holo_tensor.py gives them their interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/one_user.h"
#include "python/released_gil.h"
#include "python/tensors_arrays.h"
#include "tensors/builders.h"
#include "tensors/file/header.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using namespace tensors;

HolographicEncoding encoding_of(const std::string& name) {
  const std::optional<HolographicEncoding> found = find_encoding(name);
  if (!found) {
    raise({ErrorCode::invalid_argument,
           "no such encoding: " + name + " (embedded, spectral, rph, lrdf, lossless)"});
  }
  return *found;
}

using Points = std::vector<std::pair<double, double>>;  // quality, cosine

// Not checked: whoever makes a decoder of it does that.
std::unique_ptr<TensorDescription> describe(const std::string& encoding, const std::string& dtype,
                                            Shape shape, const nb::bytes& parameters,
                                            std::vector<uint64_t> fragment_bytes,
                                            const Points& prefixes, double common,
                                            std::vector<double> energies) {
  auto description = std::make_unique<TensorDescription>();
  description->encoding = encoding_of(encoding);
  description->dtype = dtype_of(dtype);
  description->shape = std::move(shape);
  const auto* const begin = static_cast<const std::byte*>(parameters.data());
  description->parameters.assign(begin, begin + parameters.size());
  description->part_bytes = std::move(fragment_bytes);
  for (const auto& [quality, cosine] : prefixes) {
    description->curve.prefixes.push_back({quality, cosine});
  }
  description->curve.common = common;
  description->curve.energies = std::move(energies);
  return description;
}

nb::bytes parameters_of(const TensorDescription& description) {
  return nb::bytes(description.parameters.data(), description.parameters.size());
}

Points prefixes_of(const TensorDescription& description) {
  Points points;
  for (const QualityPoint& point : description.curve.prefixes) {
    points.emplace_back(point.quality, point.cosine);
  }
  return points;
}

// What makes an equal one.
nb::tuple arguments_of(const TensorDescription& description) {
  return nb::make_tuple(name(description.encoding), dtype_name(description.dtype),
                        shape_tuple(description.shape), parameters_of(description),
                        description.part_bytes, prefixes_of(description), description.curve.common,
                        description.curve.energies);
}

// A number of a fragment that the description has.
size_t fragment_number(const TensorDescription& description, nb::handle given) {
  const nb::object whole =
      PyBool_Check(given.ptr()) ? nb::object() : nb::steal(PyNumber_Index(given.ptr()));
  const size_t number = whole.is_valid() ? PyLong_AsSize_t(whole.ptr()) : SIZE_MAX;
  PyErr_Clear();
  if (number < description.part_bytes.size()) return number;
  raise({ErrorCode::invalid_argument, "no fragment " + std::string(nb::repr(given).c_str()) + ": " +
                                          std::to_string(description.part_bytes.size()) +
                                          ", numbered from 0"});
}

double quality_of(const TensorDescription& description, const nb::iterable& given) {
  std::vector<size_t> fragments;
  for (const nb::handle fragment : given) {
    fragments.push_back(fragment_number(description, fragment));
  }
  std::sort(fragments.begin(), fragments.end());
  fragments.erase(std::unique(fragments.begin(), fragments.end()), fragments.end());
  return description.curve.quality(fragments);
}

size_t fragments_for(const TensorDescription& description, double target) {
  if (!(target >= 0 && target <= 1)) {  // NaN neither
    raise({ErrorCode::invalid_argument, "a quality of " + std::to_string(target) + ": 0 to 1"});
  }
  return description.curve.parts_for(target);
}

// (description, [fragment])
nb::tuple encode_tensor(const std::string& dtype, const Shape& shape, const InputBytes& bytes,
                        const std::string& encoding, uint32_t fragments, uint64_t seed,
                        double essential_share, uint32_t max_rank,
                        const std::optional<std::string>& precision) {
  HoloTensorEncoder encoder(encoding_of(encoding));
  encoder.with_fragments(fragments)
      .with_seed(seed)
      .with_essential_share(essential_share)
      .with_max_rank(max_rank)
      .with_pool(&ThreadPool::process());
  if (precision) encoder.with_precision(dtype_of(*precision));
  const TensorView view = {dtype_of(dtype), shape, bytes_of(bytes)};
  Result<EncodedTensor> encoded = [&] {
    const ReleasedGil released;
    return encoder.encode(view);
  }();
  if (!encoded) raise(encoded.error());
  nb::list parts;
  for (const std::vector<std::byte>& part : encoded->parts) {
    parts.append(nb::bytes(part.data(), part.size()));
  }
  return nb::make_tuple(std::move(encoded->description), parts);
}

class Decoder {
 public:
  Decoder(const TensorDescription& description, uint64_t limit)
      : decoder_(value(HoloTensorDecoder::create(description, limit))) {}

  void add_fragment(size_t fragment, const InputBytes& bytes) {
    const OneUser user(busy_, "decoder");
    const Status status = [&] {
      const ReleasedGil released;
      return decoder_.add_fragment(fragment, bytes_of(bytes));
    }();
    check(status);
  }
  ByteArray reconstruct() {
    const OneUser user(busy_, "decoder");
    return read_into_new("a tensor", decoder_.bytes(), [&](std::span<std::byte> into) {
      return decoder_.reconstruct(into, &ThreadPool::process());
    });
  }
  size_t fragments() {
    const OneUser user(busy_, "decoder");
    return decoder_.fragments();
  }
  bool can_reconstruct() {
    const OneUser user(busy_, "decoder");
    return decoder_.can_reconstruct();
  }
  double quality() {
    const OneUser user(busy_, "decoder");
    return decoder_.quality();
  }
  const TensorDescription& description() const { return decoder_.description(); }

 private:
  std::atomic<bool> busy_ = false;
  HoloTensorDecoder decoder_;
};

}  // namespace

void define_holo_tensors(nb::module_& module) {
  nb::class_<TensorDescription>(
      module, "TensorDescription",
      "Everything about an encoded tensor but its fragments: small, needed first, picklable.\n\n"
      "`encode` makes it. One that comes from elsewhere is untrusted; decoders check it.")
      .def(nb::new_(&describe), "encoding"_a, "dtype"_a, "shape"_a, "parameters"_a,
           "fragment_bytes"_a, "prefixes"_a, "common"_a = 0.0, "energies"_a = std::vector<double>())
      .def_prop_ro(
          "encoding", [](const TensorDescription& it) { return name(it.encoding); },
          "\"embedded\", \"spectral\", \"rph\", \"lrdf\" or \"lossless\", which serves what the\n"
          "encoding that was asked for does not.")
      .def_prop_ro(
          "dtype", [](const TensorDescription& it) { return dtype_name(it.dtype); },
          "Element type, by its name in safetensors: \"F32\", \"BF16\".")
      .def_prop_ro("shape", [](const TensorDescription& it) { return shape_tuple(it.shape); })
      .def_prop_ro("parameters", &parameters_of, "The encoding's own bytes.")
      .def_prop_ro(
          "fragment_bytes", [](const TensorDescription& it) { return it.part_bytes; },
          "Bytes of each fragment.")
      .def_prop_ro("prefixes", &prefixes_of,
                   "(quality, cosine) of fragments 0 to k together, measured, for each k.")
      .def("quality", &quality_of, "fragments"_a,
           "Measured quality with these fragments, by number, in any order. InvalidArgument for "
           "one\n"
           "that there is not.")
      .def("fragments_for", &fragments_for, "target"_a,
           "How many fragments, from the first on, reach the quality, 0 to 1 (InvalidArgument);\n"
           "all where none do.")
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), arguments_of(nb::cast<const TensorDescription&>(self)));
      });

  module.def("encode_tensor", &encode_tensor, "dtype"_a, "shape"_a, "bytes"_a, "encoding"_a,
             "fragments"_a, "seed"_a, "essential_share"_a, "max_rank"_a, "precision"_a.none());

  nb::class_<Decoder>(module, "TensorDecoder")
      .def(nb::new_([](const TensorDescription& description, uint64_t limit) {
             return std::make_unique<Decoder>(description, limit);
           }),
           "description"_a, "limit"_a)
      .def("add_fragment", &Decoder::add_fragment, "fragment"_a, "bytes"_a)
      .def("reconstruct", &Decoder::reconstruct)
      .def_prop_ro("fragments", &Decoder::fragments)
      .def_prop_ro("can_reconstruct", &Decoder::can_reconstruct)
      .def_prop_ro("quality", &Decoder::quality)
      .def_prop_ro("description", &Decoder::description, nb::rv_policy::reference_internal);
}

}  // namespace hoist::python
