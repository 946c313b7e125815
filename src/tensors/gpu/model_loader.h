// Loads a model into a device's memory; a .holo file good enough soon and exact at the end.
//
//   ModelLoader loader(*device::find_device("auto").value());
//   Result<HoloTensorReader> file = HoloTensorReader::open("weights.holo");
//   Result<DeviceModel> model = loader.load(*file, {.targets = {0.96, 1}});
//   for (const DeviceTensor& tensor : model->tensors) use(tensor.data.data, tensor.shape);
//
// What is stored is copied through pinned memory, tensor after tensor, checked on the device, and
// decoded there behind the copies; so weights arrive faster than the link would carry them as they
// are. Tensors that no kernel decodes (packed lossless ones, transforms that
// transform_gpu.h does not support) are decoded by the CPU and copied. Models of formats that hold
// their tensors as they are (tensors/model) are read and copied.
//
// Memory on the device: the weights, until load() returns the packed parts of some tensors at a
// time (of all, where there are several targets), and what the largest transformed tensor takes
// besides (docs/design/tensors-gpu.md has the sum). A loader keeps its pinned memory, up to 100 MiB
// and what tables take, for the next file; kept_loader.h has those of the process.
//
// Thread-safe, but one load() at a time. Not usable in a child after fork(). Errors: those of the
// reader and the device; `corrupt` where shards are damaged beyond what parity mends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/reader.h"
#include "tensors/model/model_source.h"

namespace hoist::tensors {

struct DeviceTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  device::Span<std::byte> data;  // aligned to 256 bytes
  double quality = 0;            // measured when the file was written
  size_t parts = 0;              // that it was decoded from
};

// Where the time of a load went, seconds.
struct LoadTimes {
  double prepare = 0;  // plan, memory, what the CPU decodes
  double copy = 0;     // until the last packed byte was on the device
  double finish = 0;   // until all was decoded, mended, told
};

struct DeviceModel {
  std::vector<DeviceTensor> tensors;       // as in the file, or as asked for
  std::shared_ptr<device::Buffer> memory;  // of all of them
  uint64_t packed_bytes = 0;               // of shards that were copied to the device for that
  uint64_t packed_memory = 0;              // of the device, that they took meanwhile
  size_t mended = 0;                       // tensors that the CPU had to decode after all
  LoadTimes times = {};
};

// A tensor of a file, by its number there, and the quality that it is wanted in; none: all parts,
// which is more than a quality of 1, since measured ones are rounded.
struct TensorTarget {
  size_t tensor = 0;
  std::optional<double> target = {};
};

struct LoadOptions {
  // Qualities, ascending: each tensor is decoded with the fewest parts that reach the first one,
  // then with those for the next. Below 1 the model stays an approximation.
  std::vector<double> targets = {1.0};
  // Takes the last target's place, tensor by tensor.
  const QualityPolicy* policy = nullptr;
  // None: all tensors. Else these, each once, with targets of their own in place of the last one.
  std::vector<TensorTarget> only = {};
  // Called on one thread at a time when a tensor has reached a target on the device. Its data stays
  // as it is until it is decoded again for the next target, which does not wait for whoever reads
  // it: elements are then the old ones or the new ones. What the CPU decodes comes first, at the
  // last target at once; what it had to decode after all, of damaged shards or because the device
  // had no cuBLAS or no memory for it, comes last.
  std::function<void(const DeviceTensor&)> on_tensor = {};
  bool validate_checksums = true;
  uint64_t region_bytes = uint64_t{64} << 20;  // that are decoded at a time
  uint64_t ahead_bytes = uint64_t{256} << 20;  // that copies may be ahead of decoding
  std::stop_token stop = {};                   // too late when everything is on the device
};

// With decoding beside them copies take a few threads more, where there are cores for them.
device::TransferTuning loading_tuning();

class ModelLoader {
 public:
  // The device must outlive the loader and what it loads.
  explicit ModelLoader(device::Device& device,
                       const device::TransferTuning& tuning = loading_tuning())
      : pool_(device), transfer_(pool_, tuning) {}

  device::Device& device() const { return pool_.device(); }

  Result<DeviceModel> load(const HoloTensorReader& file, const LoadOptions& options = {});
  // Tensors as they are, so that of the options `only` (but for its targets), `on_tensor` and
  // `stop` have a meaning.
  Result<DeviceModel> load(const ModelSource& source, const LoadOptions& options = {});

 private:
  device::PinnedPool pool_;
  device::Transfer transfer_;
};

}  // namespace hoist::tensors
