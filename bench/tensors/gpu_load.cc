// Loading a model from the page cache into a GPU's memory, counted in bytes of weights:
//
//   tensors_gpu_load DIRECTORY [GIB [CASE]]     makes model.holo and model.safetensors there, if
//   they are
//                                        not yet, and prints a line of JSON a measurement
//
// GIB is about how large the model is (8); only cases with CASE in their names are measured.
// peers_load.py measures other loaders with the same files. Each case runs five times; the median
// counts. What was loaded is compared with the weights, all of it, after the times are taken.
// Between two runs of a case there is a pause: the driver clears memory that was freed with the
// copy engines, 18 ms for 8 GiB, which is not the next load's doing.
#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/threads.h"
#include "device/device.h"
#include "tensors/file/holotensor.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/gpu/packed_plan.h"
#include "tensors/gpu/packed_reader.h"

namespace hoist::tensors {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 5;
constexpr auto kPause = std::chrono::milliseconds(100);

struct Weights {
  Shape shape;
  std::vector<std::byte> bytes;
  EncodedTensor encoded;
};

// The shapes of an 8-billion-parameter transformer. Tensors of a shape have the same weights: what
// is measured does not depend on them.
const std::vector<std::pair<std::string, Shape>> kLayer = {
    {"self_attn.q_proj", {4096, 4096}}, {"self_attn.k_proj", {1024, 4096}},
    {"self_attn.v_proj", {1024, 4096}}, {"self_attn.o_proj", {4096, 4096}},
    {"mlp.gate_proj", {14336, 4096}},   {"mlp.up_proj", {14336, 4096}},
    {"mlp.down_proj", {4096, 14336}},   {"input_layernorm", {4096}},
};

Result<Weights> make_weights(const Shape& shape) {
  Weights weights{shape, {}, {}};
  const uint64_t count = element_count(shape).value();
  weights.bytes.resize(2 * count);
  constexpr uint64_t kPart = 1 << 20;
  ThreadPool::process().parallel_for((count + kPart - 1) / kPart, [&](size_t part) {
    std::mt19937_64 random(part + count);
    std::normal_distribution<float> gaussian(0, 0.02F);
    std::vector<float> values(std::min(kPart, count - part * kPart));
    for (float& value : values) value = gaussian(random);
    (void)from_f32(values, DType::bf16,
                   std::span(weights.bytes).subspan(2 * part * kPart, 2 * values.size()));
  });
  Result<EncodedTensor> encoded =
      encode({DType::bf16, shape, weights.bytes}, {}, &ThreadPool::process());
  if (!encoded) return encoded.error();
  weights.encoded = *std::move(encoded);
  return weights;
}

class Model {
 public:
  static Result<Model> make(uint64_t bytes) {
    Model model;
    for (int layer = 0; model.bytes_ < bytes; ++layer) {
      for (const auto& [name, shape] : kLayer) {
        if (!model.weights_.contains(shape)) {
          Result<Weights> weights = make_weights(shape);
          if (!weights) return weights.error();
          model.weights_.emplace(shape, *std::move(weights));
        }
        model.tensors_.emplace_back(fmt::format("model.layers.{}.{}.weight", layer, name), shape);
        model.bytes_ += model.weights_.at(shape).bytes.size();
      }
    }
    return model;
  }

  uint64_t bytes() const { return bytes_; }
  const std::vector<std::byte>& content(size_t tensor) const {
    return weights_.at(tensors_[tensor].second).bytes;
  }

  Status write_holo(const std::string& path) const {
    Result<HoloTensorWriter> writer =
        HoloTensorWriter::create(path, {.encode = {}, .durable = false});
    if (!writer) return writer.error();
    for (const auto& [name, shape] : tensors_) {
      Status added = writer->add(name, weights_.at(shape).encoded, &ThreadPool::process());
      if (!added) return added;
    }
    return writer->finish();
  }

  Status write_safetensors(const std::string& path) const {
    std::string header = "{";
    uint64_t at = 0;
    for (const auto& [name, shape] : tensors_) {
      const uint64_t size = weights_.at(shape).bytes.size();
      header += fmt::format(R"({}"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})",
                            at == 0 ? "" : ",", name, fmt::join(shape, ","), at, at + size);
      at += size;
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const uint64_t length = header.size();
    Result<UniqueFd> fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!fd) return fd.error();
    Status done = write_full(fd->get(), &length, sizeof length, path);
    if (done) done = write_full(fd->get(), header.data(), length, path);
    for (const auto& [name, shape] : tensors_) {
      const std::vector<std::byte>& bytes = weights_.at(shape).bytes;
      if (done) done = write_full(fd->get(), bytes.data(), bytes.size(), path);
    }
    return done;
  }

 private:
  std::map<Shape, Weights> weights_;
  std::vector<std::pair<std::string, Shape>> tensors_;
  uint64_t bytes_ = 0;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The median of some runs; `run` gives seconds.
Result<double> median(const std::function<Result<double>()>& run) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const Result<double> seconds = run();
    if (!seconds) return seconds;
    times.push_back(*seconds);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const std::string& name, uint64_t bytes, double seconds, const std::string& more = {}) {
  fmt::print(R"({{"case":"{}","seconds":{:.4f},"weights_GBps":{:.2f}{}}})"
             "\n",
             name, seconds, static_cast<double>(bytes) / seconds / 1e9, more);
  std::fflush(stdout);
}

Status compare(const DeviceModel& loaded, const Model& model) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < loaded.tensors.size(); ++i) {
    const DeviceTensor& tensor = loaded.tensors[i];
    bytes.resize(tensor.data.size);
    Status copied = tensor.data.device->copy(bytes.data(), tensor.data.data, bytes.size(), {});
    if (!copied) return copied;
    if (bytes != model.content(i)) {
      return fail(ErrorCode::corrupt, fmt::format("{} is not what was written", tensor.name));
    }
  }
  return {};
}

// Every run with memory of its own, as a user's first load has it; the loader is kept.
Status measure_load(const std::string& name, const std::string& path, const Model& model,
                    device::Device& device, LoadOptions options,
                    const device::TransferTuning& tuning) {
  ModelLoader loader(device, tuning);
  std::vector<double> first_times;
  DeviceModel last;
  bool first_run = true;
  double cold = 0;
  double opened = 0;
  const Result<double> seconds = median([&]() -> Result<double> {
    last = {};
    std::this_thread::sleep_for(kPause);
    std::mutex mutex;
    size_t reached = 0;
    double first = 0;
    const auto start = Clock::now();
    std::map<std::string, bool> seen;
    options.on_tensor = [&](const DeviceTensor& tensor) {
      const std::lock_guard lock(mutex);
      if (seen.emplace(tensor.name, true).second && ++reached > 0) first = seconds_since(start);
    };
    const Result<HoloTensorReader> file = HoloTensorReader::open(path);
    if (!file) return file.error();
    opened = seconds_since(start);
    Result<DeviceModel> loaded = loader.load(*file, options);
    if (!loaded) return loaded.error();
    const double taken = seconds_since(start);
    last = *std::move(loaded);
    first_times.push_back(first);
    if (first_run) cold = taken;
    first_run = false;
    return taken;
  });
  if (!seconds) return seconds.error();
  std::sort(first_times.begin(), first_times.end());
  const double first = first_times[first_times.size() / 2];
  print(
      name, model.bytes(), *seconds,
      fmt::format(R"(,"packed_ratio":{:.4f},"first_usable_share":{:.3f},"first_run_GBps":{:.2f},)"
                  R"("last_run":{{"open":{:.4f},"prepare":{:.4f},"copy":{:.4f},"finish":{:.4f}}})",
                  static_cast<double>(last.packed_bytes) / static_cast<double>(model.bytes()),
                  first / *seconds, static_cast<double>(model.bytes()) / cold / 1e9, opened,
                  last.times.prepare, last.times.copy, last.times.finish));
  return options.targets.back() < 1 ? Status() : compare(last, model);
}

// The weights as they are, by the same Transfer.
Status measure_raw(const std::string& path, uint64_t bytes, device::Device& device) {
  device::PinnedPool pool(device);
  device::Transfer transfer(pool);
  const Result<UniqueFd> fd = open_file(path, O_RDONLY);
  if (!fd) return fd.error();
  const uint64_t offset = std::filesystem::file_size(path) - bytes;
  const Result<double> seconds = median([&]() -> Result<double> {
    std::this_thread::sleep_for(kPause);
    const auto start = Clock::now();
    const Result<device::Buffer> memory = device::Buffer::allocate(device, bytes);
    if (!memory) return memory.error();
    Status done = transfer.upload(device::HostFile{fd->get(), offset}, memory->view());
    if (!done) return done.error();
    return seconds_since(start);
  });
  if (!seconds) return seconds.error();
  print("Transfer of the safetensors file, memory for it included", bytes, *seconds);
  const Result<device::Buffer> memory = device::Buffer::allocate(device, bytes);
  if (!memory) return memory.error();
  for (const int threads : {8, 12, 16}) {
    device::Transfer tuned(pool, {.threads = threads});
    const Result<double> copied = median([&]() -> Result<double> {
      const auto start = Clock::now();
      Status done = tuned.upload(device::HostFile{fd->get(), offset}, memory->view());
      if (!done) return done.error();
      return seconds_since(start);
    });
    if (!copied) return copied.error();
    print(fmt::format("Transfer of the safetensors file, {} threads", threads), bytes, *copied);
  }
  return {};
}

// The packed bytes of an exact load by Transfer alone: what the link and the page cache give.
Status measure_packed(const std::string& path, uint64_t bytes, device::Device& device) {
  const Result<HoloTensorReader> file = HoloTensorReader::open(path);
  if (!file) return file.error();
  StepParts steps;
  for (const HoloTensor& tensor : file->header().tensors) steps.push_back({tensor.parts.size()});
  const Result<PackedPlan> plan = PackedPlan::make(*file->index(), shard_offsets(*file), steps);
  if (!plan) return plan.error();
  const Result<device::Buffer> arena = device::Buffer::allocate(device, plan->arena_bytes());
  if (!arena) return arena.error();
  device::PinnedPool pool(device);
  for (const int threads : {8, 12, 16}) {
    device::Transfer transfer(pool, {.threads = threads});
    const Result<double> seconds = median([&]() -> Result<double> {
      PackedReader reader(*plan, file->container().source());
      const auto start = Clock::now();
      Status done = transfer.upload(&reader, arena->view());
      if (!done) return done.error();
      return seconds_since(start);
    });
    if (!seconds) return seconds.error();
    print(fmt::format("Transfer of the packed bytes, {} threads", threads), bytes, *seconds,
          fmt::format(R"(,"packed_GBps":{:.2f})",
                      static_cast<double>(plan->arena_bytes()) / *seconds / 1e9));
  }
  return {};
}

Status run(const std::string& directory, uint64_t gib, const std::string& wanted) {
  Result<device::Device*> device = device::cuda_device();
  if (!device) return device.error();
  const Result<Model> model = Model::make(gib << 30);
  if (!model) return model.error();
  const std::string holo = directory + "/model.holo";
  const std::string safetensors = directory + "/model.safetensors";
  Status status;
  if (!std::filesystem::exists(holo)) status = model->write_holo(holo);
  if (status && !std::filesystem::exists(safetensors)) {
    status = model->write_safetensors(safetensors);
  }
  const auto load = [&](const std::string& name, const LoadOptions& options,
                        const device::TransferTuning& tuning = loading_tuning()) {
    if (!status || name.find(wanted) == std::string::npos) return;
    status = measure_load(name, holo, *model, **device, options, tuning);
  };
  if (status && wanted.empty()) status = measure_raw(safetensors, model->bytes(), **device);
  if (status && wanted.empty()) status = measure_packed(holo, model->bytes(), **device);
  load("hoist, exact", {});
  load("hoist, exact, checksums not checked", {.validate_checksums = false});
  load("hoist, 0.96 then exact", {.targets = {0.96, 1}});
  load("hoist, 0.96 only", {.targets = {0.96}});
  load("hoist, exact, 8 threads", {}, {.threads = 8});
  load("hoist, exact, 12 threads", {}, {.threads = 12});
  load("hoist, exact, 16 threads", {}, {.threads = 16});
  load("hoist, exact, 12 threads, chunks of 2 MiB", {},
       {.threads = 12, .largest_chunk = size_t{2} << 20});
  load("hoist, 0.96 then exact, regions of 16 MiB",
       {.targets = {0.96, 1}, .region_bytes = uint64_t{16} << 20});
  load("hoist, 0.96 then exact, regions of 256 MiB",
       {.targets = {0.96, 1}, .region_bytes = uint64_t{256} << 20});
  return status;
}

}  // namespace
}  // namespace hoist::tensors

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: tensors_gpu_load DIRECTORY [GIB [CASE]]\n");
    return 2;
  }
  const uint64_t gib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 8;
  const hoist::Status status = hoist::tensors::run(argv[1], gib, argc > 3 ? argv[3] : "");
  if (status) return 0;
  fmt::print(stderr, "tensors_gpu_load: error: {}\n", status.error().message);
  return 1;
}
