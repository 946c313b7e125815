// Tensors cross as flat arrays of bytes that other libraries take over by DLPack (__dlpack__),
// without a copy, on whatever device they are; each keeps the memory of all that were loaded with
// it, one buffer, until it is gone.
//
// The consumer's stream is not asked for: when a load returns, nothing is under way any more. The
// memory is freed by a call that waits for the device's work, so that kernels which still read a
// tensor when its last owner goes are no danger.
#include "python/tensors_device.h"

#include <memory>
#include <string>

#include "device/device.h"
#include "python/device_array.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "tensors/gpu/kept_loader.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using namespace tensors;

// `File`: what a loader loads.
template <typename File>
nb::list load(const File& file, const std::string& device_name, const WantedTensors& wanted) {
  nb::list tensors;
  if (wanted.empty()) return tensors;
  LoadOptions options;
  for (const auto& [tensor, target] : wanted) options.only.push_back({tensor, target});
  const DeviceModel model =
      value(interruptible(true, [&](const std::stop_token& stop) -> Result<DeviceModel> {
        const Result<device::Device*> device = device::find_device(device_name);
        if (!device) return device.error();
        options.stop = stop;
        return KeptLoader(**device)->load(file, options);
      }));
  for (const DeviceTensor& tensor : model.tensors) {
    tensors.append(nb::make_tuple(device_array(tensor.data.data, tensor.data.size, model.memory),
                                  tensor.quality, tensor.parts));
  }
  return tensors;
}

}  // namespace

nb::list load_onto(const HoloTensorReader& file, const std::string& device,
                   const WantedTensors& wanted) {
  return load(file, device, wanted);
}

nb::list load_onto(const ModelSource& source, const std::string& device,
                   const WantedTensors& wanted) {
  return load(source, device, wanted);
}

}  // namespace hoist::python
