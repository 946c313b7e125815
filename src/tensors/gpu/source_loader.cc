// Models of formats that hold their tensors as they are: read and copied, some at a time.
#include <algorithm>
#include <utility>

#include "device/host_end.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/gpu/wanted_tensors.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kTensorAlignment = 256;
// Copied at a time: enough for the link to be busy, little enough that tensors are told early.
constexpr uint64_t kGroupBytes = uint64_t{256} << 20;

// The model's memory as it will be, read from its files.
class ModelReader final : public device::HostReader {
 public:
  // All of them must outlive it; `offsets`, of the tensors with these numbers, ascend. `first` is
  // the offset that reads as 0.
  ModelReader(const ModelSource& source, const std::vector<size_t>& numbers,
              const std::vector<uint64_t>& offsets, uint64_t first)
      : source_(source), numbers_(numbers), offsets_(offsets), first_(first) {}

  // Bytes between tensors are left as they are.
  Status read(uint64_t at, std::span<std::byte> into) override {
    const uint64_t begin = first_ + at;
    const uint64_t end = begin + into.size();
    auto i = static_cast<size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), begin) -
                                 offsets_.begin() - 1);
    for (; i < offsets_.size() && offsets_[i] < end; ++i) {
      const ModelTensor& tensor = source_.tensors()[numbers_[i]];
      const uint64_t from = std::max(begin, offsets_[i]);
      const uint64_t to = std::min(end, offsets_[i] + tensor.bytes);
      if (from >= to) continue;
      Status done = source_.read(tensor, from - offsets_[i], into.subspan(from - begin, to - from));
      if (!done) return done;
    }
    return {};
  }

 private:
  const ModelSource& source_;
  const std::vector<size_t>& numbers_;
  const std::vector<uint64_t>& offsets_;
  const uint64_t first_;
};

}  // namespace

Result<DeviceModel> ModelLoader::load(const ModelSource& source, const LoadOptions& options) {
  const std::string name = source.files().empty() ? std::string() : source.files().front().name;
  const Result<std::vector<size_t>> wanted =
      wanted_tensors(options.only, source.tensors().size(), name);
  if (!wanted) return wanted.error();
  uint64_t total = 0;
  std::vector<uint64_t> offsets;
  for (const size_t number : *wanted) {
    offsets.push_back(total);
    const uint64_t bytes = source.tensors()[number].bytes;
    total += (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  }
  Result<device::Buffer> memory =
      device::Buffer::allocate(device(), std::max(total, kTensorAlignment));
  if (!memory) return memory.error();
  DeviceModel model;
  model.memory = std::make_shared<device::Buffer>(std::move(*memory));
  for (size_t i = 0; i < offsets.size(); ++i) {
    const ModelTensor& tensor = source.tensors()[(*wanted)[i]];
    model.tensors.push_back({tensor.name, tensor.dtype, tensor.shape,
                             model.memory->view().subspan(offsets[i], tensor.bytes), 1, 1});
  }
  for (size_t told = 0; told < offsets.size();) {
    const uint64_t begin = offsets[told];
    size_t last = told;
    while (last + 1 < offsets.size() && offsets[last + 1] - begin < kGroupBytes) ++last;
    ModelReader reader(source, *wanted, offsets, begin);
    const uint64_t size = offsets[last] + model.tensors[last].data.size - begin;
    Status sent = transfer_.upload(&reader, model.memory->view().subspan(begin, size),
                                   {.stop = options.stop});
    if (!sent) return sent.error();
    for (; told <= last; ++told) {
      if (options.on_tensor) options.on_tensor(model.tensors[told]);
    }
  }
  return model;
}

}  // namespace hoist::tensors
