// Whole files into a device's memory. Tensors cross as flat arrays of bytes that other libraries
// take over by DLPack (__dlpack__), without a copy, on whatever device they are; each keeps the
// model's memory, one buffer, until it is gone.
//
// The consumer's stream is not asked for: when load() returns, nothing is under way any more. The
// memory is freed by a call that waits for the device's work, so that kernels which still read a
// tensor when its last owner goes are no danger.
#include "python/tensors_device.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/tensors_path.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/gpu/source_loader.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using namespace tensors;

using DeviceArray = nb::ndarray<nb::array_api, uint8_t, nb::ndim<1>>;
using Memory = std::shared_ptr<device::Buffer>;

DeviceArray array_of(const GpuTensor& tensor, const Memory& memory) {
  nb::capsule owner(new Memory(memory), [](void* it) noexcept { delete static_cast<Memory*>(it); });
  const size_t size = tensor.data.size;
  const device::DeviceProperties& device = memory->device()->properties();
  const bool cuda = device.kind == device::DeviceKind::cuda;
  return DeviceArray(tensor.data.data, 1, &size, owner, nullptr, nb::dtype<uint8_t>(),
                     cuda ? nb::device::cuda::value : nb::device::cpu::value, device.index);
}

GpuLoadOptions load_options(std::optional<double> target, const QualityPolicy* policy) {
  GpuLoadOptions options;
  options.targets = {target.value_or(1)};
  options.policy = policy;
  return options;
}

// [(name, dtype, shape, array, quality)]
nb::list load_model(const FilePath& path, const std::string& device_name, bool holo,
                    std::optional<double> target, const QualityPolicy* policy) {
  const GpuModel model = value(interruptible(true, [&](const Stop& stop) -> Result<GpuModel> {
    const Result<device::Device*> device = device::find_device(device_name);
    if (!device) return tl::unexpected(device.error());
    GpuLoadOptions options = load_options(target, policy);
    options.stop = stop.token();
    if (!holo) {
      const Result<ModelSource> source = ModelSource::open({path.text});
      if (!source) return tl::unexpected(source.error());
      return load_source(**device, *source, options);
    }
    const Result<HoloTensorReader> file = HoloTensorReader::open(path.text);
    if (!file) return tl::unexpected(file.error());
    return GpuModelLoader(**device).load(*file, options);
  }));
  nb::list tensors;
  for (const GpuTensor& tensor : model.tensors) {
    nb::list shape;
    for (const uint64_t extent : tensor.shape) shape.append(extent);
    tensors.append(nb::make_tuple(tensor.name, properties(tensor.dtype).name, nb::tuple(shape),
                                  array_of(tensor, model.memory), tensor.quality));
  }
  return tensors;
}

}  // namespace

void define_tensor_loading(nb::module_& module) {
  module.def("load_model", &load_model, "path"_a, "device"_a, "holo"_a, "target"_a = nb::none(),
             "policy"_a.none() = nb::none());
}

}  // namespace hoist::python
