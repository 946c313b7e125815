#include "tensors/gpu/model_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/quiet_thread.h"
#include "base/threads.h"
#include "tensors/gpu/load_run.h"
#include "tensors/gpu/packed_reader.h"
#include "tensors/gpu/part_decoder.h"
#include "tensors/gpu/wanted_tensors.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kTensorAlignment = 256;

class Stopwatch {
 public:
  // Seconds since the last call, the first time since its making.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// How many parts of a tensor each step needs.
Result<std::vector<size_t>> step_parts(const HoloTensor& tensor, const LoadOptions& options,
                                       std::optional<double> last_target) {
  std::vector<size_t> parts;
  for (size_t step = 0; step < options.targets.size(); ++step) {
    const bool last = step + 1 == options.targets.size();
    const std::optional<double> target = last ? last_target : options.targets[step];
    const Result<std::vector<size_t>> selected = selected_parts(tensor, {.target = target});
    if (!selected) return selected.error();
    parts.push_back(std::max(selected->size(), parts.empty() ? 0 : parts.back()));
  }
  return parts;
}

// The same of all tensors; none of those that are not wanted.
Result<StepParts> all_step_parts(const HoloTensorReader& file, const LoadOptions& options,
                                 const std::vector<size_t>& wanted) {
  if (options.targets.empty() || !std::is_sorted(options.targets.begin(), options.targets.end())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} targets of quality ({}): give one or more, ascending",
                            options.targets.size(), file.name()));
  }
  const std::vector<HoloTensor>& tensors = file.header().tensors;
  StepParts steps(tensors.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const HoloTensor& tensor = tensors[wanted[i]];
    const double otherwise =
        options.policy != nullptr ? options.policy->target(tensor.name) : options.targets.back();
    const std::optional<double> target = options.only.empty() ? otherwise : options.only[i].target;
    Result<std::vector<size_t>> parts = step_parts(tensor, options, target);
    if (!parts) return parts.error();
    steps[wanted[i]] = *std::move(parts);
  }
  return steps;
}

// Which tensors are decoded on the device, and which by the CPU.
struct Division {
  StepParts on_device;  // empty for the others
  std::vector<size_t> device;
  std::vector<size_t> host;
};

bool has_all_shards(const HoloTensorReader& file, const std::vector<uint64_t>& offsets,
                    size_t tensor, size_t parts) {
  for (size_t part = 0; part < parts; ++part) {
    for (const StreamPiece& piece : file.layout().pieces(file.layout().part_stream(tensor, part))) {
      if (offsets[piece.shard] == kMissingShard) return false;
    }
  }
  return true;
}

Division divide(const HoloTensorReader& file, const std::vector<uint64_t>& offsets,
                const device::Device& device, const StepParts& steps) {
  Division division;
  division.on_device.resize(steps.size());
  for (size_t tensor = 0; tensor < steps.size(); ++tensor) {
    if (steps[tensor].empty()) continue;
    const HoloTensor& header = file.header().tensors[tensor];
    if (header.bytes() > 0 && can_decode_parts(device, header) &&
        has_all_shards(file, offsets, tensor, steps[tensor].back())) {
      division.on_device[tensor] = steps[tensor];
      division.device.push_back(tensor);
    } else {
      division.host.push_back(tensor);
    }
  }
  return division;
}

// Where each tensor lies in the model's memory, and at last its size.
Result<std::vector<uint64_t>> place_tensors(const HoloTensorReader& file, const StepParts& steps) {
  std::vector<uint64_t> offsets;
  uint64_t total = 0;
  for (size_t number = 0; number < steps.size(); ++number) {
    const HoloTensor& tensor = file.header().tensors[number];
    if (steps[number].empty()) {
      offsets.push_back(total);
      continue;
    }
    const uint64_t bytes = tensor.bytes();
    uint64_t stored = 0;
    for (const StoredStream& part : tensor.parts) stored += part.bytes;
    if (!is_believable(bytes, stored) || bytes > container::kMaxSize - total) {
      return fail(ErrorCode::exhausted,
                  fmt::format("{} bytes of {} are said to be stored in {} ({})", bytes, tensor.name,
                              stored, file.name()));
    }
    offsets.push_back(total);
    total += (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  }
  offsets.push_back(std::max(total, kTensorAlignment));
  return offsets;
}

// The model in its memory, with nothing in it yet: all tensors by their numbers, those that are not
// wanted empty.
DeviceModel make_model(const HoloTensorReader& file, const StepParts& steps,
                       const std::vector<uint64_t>& offsets, device::Buffer memory) {
  DeviceModel model;
  model.memory = std::make_shared<device::Buffer>(std::move(memory));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].empty()) {
      model.tensors.emplace_back();
      continue;
    }
    const HoloTensor& tensor = file.header().tensors[i];
    const size_t parts = steps[i].back();
    model.tensors.push_back({tensor.name, tensor.description.dtype, tensor.description.shape,
                             model.memory->view().subspan(offsets[i], tensor.bytes()),
                             quality_of(tensor, parts), parts});
  }
  return model;
}

// The wanted tensors of a model that has all of its file.
DeviceModel take(DeviceModel model, const std::vector<size_t>& wanted) {
  std::vector<DeviceTensor> tensors;
  tensors.reserve(wanted.size());
  for (const size_t number : wanted) tensors.push_back(std::move(model.tensors[number]));
  model.tensors = std::move(tensors);
  return model;
}

Status decode_on_host(const HoloTensorReader& file, size_t number, device::Transfer& transfer,
                      const LoadOptions& options, DeviceModel& model) {
  DeviceTensor& tensor = model.tensors[number];
  const Result<LoadedTensor> decoded =
      file.decode(number, {.layers = tensor.parts}, {}, &ThreadPool::process());
  if (!decoded) return decoded.error();
  const std::span<const std::byte> bytes(decoded->bytes.data(), decoded->bytes.size());
  Status sent = transfer.upload(bytes, tensor.data, {.stop = options.stop});
  if (sent && options.on_tensor) options.on_tensor(tensor);
  return sent;
}

}  // namespace

device::TransferTuning loading_tuning() {
  device::TransferTuning tuning;
  if (usable_cpus() >= 16) tuning.threads = 12;
  return tuning;
}

Result<DeviceModel> ModelLoader::load(const HoloTensorReader& file, const LoadOptions& options) {
  Stopwatch watch;
  const Result<std::vector<size_t>> wanted =
      wanted_tensors(options.only, file.header().tensors.size(), file.name());
  if (!wanted) return wanted.error();
  const Result<StepParts> all_steps = all_step_parts(file, options, *wanted);
  if (!all_steps) return all_steps.error();
  const StepParts& steps = *all_steps;
  const Result<std::vector<uint64_t>> places = place_tensors(file, steps);
  if (!places) return places.error();
  device::Device& device = pool_.device();
  // Gigabytes take a millisecond or two.
  Aside<Result<device::Buffer>> memory_to_come(
      [&] { return device::Buffer::allocate(device, places->back()); });
  const std::vector<uint64_t> offsets = shard_offsets(file);
  const Division division = divide(file, offsets, device, steps);
  const PackedPlanOptions plan_options = {.region_bytes = options.region_bytes,
                                          .chunk_bytes = transfer_.tuning().largest_chunk,
                                          .ahead_bytes = options.ahead_bytes};
  const Result<PackedPlan> plan =
      PackedPlan::make(*file.index(), offsets, division.on_device, plan_options);
  if (!plan) return plan.error();
  const Result<device::Buffer> ring =
      device::Buffer::allocate(device, std::max<uint64_t>(plan->ring_bytes(), 1));
  Result<device::Buffer> memory = memory_to_come.get();
  if (!memory) return memory.error();
  if (!ring) return ring.error();
  DeviceModel model = make_model(file, steps, *places, *std::move(memory));
  for (const size_t tensor : division.host) {
    Status done = decode_on_host(file, tensor, transfer_, options, model);
    if (!done) return done.error();
  }
  model.times.prepare = watch.lap();
  if (division.device.empty()) return take(std::move(model), *wanted);

  PackedReader reader(*plan, file.container().source());
  LoadRun run(file, options, *plan, ring->view(), model);
  // Making decode tables takes milliseconds.
  Status status =
      run.start([&] { return make_part_decoder(pool_, file.header(), division.device); });
  if (status) {
    const device::TransferRequest request = {
        .stop = options.stop,
        .enqueued = [&](uint64_t offset, size_t size, device::Stream& stream) {
          return run.take(offset, size, stream);
        }};
    status = transfer_.upload_placed(
        &reader, plan->arena_bytes(),
        [&](uint64_t offset, size_t size, device::Stream& stream) {
          return run.place(offset, size, stream);
        },
        request);
  }
  if (!status) return status.error();
  model.times.copy = watch.lap();
  const Result<std::vector<size_t>> damaged = run.finish();
  if (!damaged) return damaged.error();
  for (const size_t tensor : *damaged) {
    Status mended = decode_on_host(file, tensor, transfer_, options, model);
    if (!mended) return mended.error();
  }
  for (const PackedShard& shard : plan->shards()) model.packed_bytes += shard.bytes;
  model.packed_memory = plan->ring_bytes();
  model.mended = damaged->size();
  model.times.finish = watch.lap();
  return take(std::move(model), *wanted);
}

}  // namespace hoist::tensors
