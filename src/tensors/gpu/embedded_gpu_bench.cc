// Embedded tensors on the GPU, from and to its own memory. Bytes are those of the tensors; the
// counter memory_GB is what is read and written besides and with them. The tensors of a case share
// their layers, which are larger than the GPU's cache.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <map>
#include <random>

#include "base/checksum.h"
#include "device/cuda_memory.h"
#include "device/cuda_plugin.h"
#include "tensors/embedded/embedded.h"
#include "tensors/gpu/checksum_gpu.h"
#include "tensors/gpu/embedded_gpu.h"

namespace hoist::tensors {
namespace {

constexpr size_t kTensorBytes = size_t{256} << 20;
constexpr size_t kTensors = 8;
constexpr int kRepeats = 5;  // enqueued at once, so that no launch shows

// Gaussian weights, the same every time.
std::vector<std::byte> weights(DType dtype, size_t bytes) {
  const size_t width = properties(dtype).bytes;
  constexpr size_t kPart = size_t{1} << 20;
  std::vector<std::byte> elements(bytes);
  ThreadPool::process().parallel_for(bytes / width / kPart, [&](size_t part) {
    std::mt19937_64 random(part);
    std::normal_distribution<float> gaussian(0, 0.02F);
    std::vector<float> values(kPart);
    for (float& value : values) value = gaussian(random);
    (void)from_f32(values, dtype, std::span(elements).subspan(part * kPart * width, kPart * width));
  });
  return elements;
}

struct Resident {
  EncodedTensor tensor;
  EmbeddedLayout layout;
  std::vector<device::Buffer> layers;
  std::vector<std::byte> elements;
};

// Kept for all cases of a type; the last type only.
Result<Resident*> resident(device::Device& device, DType dtype) {
  static std::map<DType, Resident> kept;
  if (const auto known = kept.find(dtype); known != kept.end()) return &known->second;
  kept.clear();
  std::vector<std::byte> elements = weights(dtype, kTensorBytes);
  const uint64_t count = elements.size() / properties(dtype).bytes;
  auto tensor = embedded_encode({dtype, {count}, elements}, &ThreadPool::process());
  if (!tensor) return tensor.error();
  if (!*tensor) return fail(ErrorCode::unsupported, "not embedded");
  Result<EmbeddedLayout> layout = EmbeddedLayout::parse((*tensor)->description);
  if (!layout) return layout.error();
  std::vector<device::Buffer> layers;
  for (const std::vector<std::byte>& part : (*tensor)->parts) {
    auto buffer = device::Buffer::allocate(device, part.size() + kEmbeddedMargin);
    if (!buffer) return buffer.error();
    if (Status sent = buffer->upload(part); !sent) return sent.error();
    layers.push_back(std::move(*buffer));
  }
  return &kept.emplace(dtype, Resident{**std::move(tensor), *std::move(layout), std::move(layers),
                                       std::move(elements)})
              .first->second;
}

Status measure(benchmark::State& state, device::Stream& stream,
               const std::function<Status()>& enqueue) {
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      if (Status status = enqueue(); !status) return status;
    }
    if (Status status = stream.synchronize(); !status) return status;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(taken.count() / kRepeats);
  }
  return {};
}

Status decode(benchmark::State& state, DType dtype, size_t missing) {
  Result<device::Device*> device = device::cuda_device();
  if (!device) return device.error();
  device::PinnedPool pool(**device);
  Result<device::Stream> stream = device::Stream::create(**device);
  if (!stream) return stream.error();
  Result<Resident*> data = resident(**device, dtype);
  if (!data) return data.error();
  const size_t layers = std::max<size_t>((*data)->layers.size(), missing + 1) - missing;
  Result<EmbeddedGpu> gpu =
      EmbeddedGpu::create(pool, std::vector<const EmbeddedLayout*>(kTensors, &(*data)->layout));
  if (!gpu) return gpu.error();
  Result<device::Buffer> out = device::Buffer::allocate(**device, kTensors * kTensorBytes);
  if (!out) return out.error();
  EmbeddedTask task;
  uint64_t read = 0;
  for (size_t i = 0; i < layers; ++i) {
    task.layers.push_back(static_cast<const std::byte*>((*data)->layers[i].data()));
    read += (*data)->tensor.parts[i].size();
  }
  std::vector<EmbeddedTask> tasks(kTensors, task);
  for (size_t i = 0; i < kTensors; ++i) {
    tasks[i].tensor = i;
    tasks[i].out = out->view().data + i * kTensorBytes;
  }
  Status status = measure(state, *stream, [&] { return gpu->decode(tasks, *stream); });
  if (!status) return status;
  if (status = gpu->collect(*stream); status) status = stream->synchronize();
  if (!status) return status;
  if (gpu->is_corrupt(0)) return fail(ErrorCode::corrupt, "decoded to something else");
  if (missing == 0) {
    std::vector<std::byte> last(kTensorBytes);
    if (status = out->download(last, (kTensors - 1) * kTensorBytes); !status) return status;
    if (last != (*data)->elements) return fail(ErrorCode::corrupt, "decoded to something else");
  }
  const auto iterations = static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(iterations * kTensors * kTensorBytes));
  state.counters["memory_GB"] =
      benchmark::Counter(iterations * kTensors * static_cast<double>(kTensorBytes + read) / 1e9,
                         benchmark::Counter::kIsRate);
  state.counters["ratio"] = static_cast<double>(read) / kTensorBytes;
  return {};
}

// 1 GiB in shards of `shard` bytes.
Status check(benchmark::State& state, uint64_t shard) {
  constexpr uint64_t kBytes = uint64_t{1} << 30;
  Result<device::Device*> device = device::cuda_device();
  if (!device) return device.error();
  device::PinnedPool pool(**device);
  Result<device::Stream> stream = device::Stream::create(**device);
  if (!stream) return stream.error();
  Result<device::Buffer> bytes = device::Buffer::allocate(**device, kBytes);
  if (!bytes) return bytes.error();
  if (Status filled = bytes->fill(std::byte{0}); !filled) return filled;
  const std::vector<std::byte> zeros(shard);
  const uint64_t sum = xxh3_64(zeros.data(), shard);
  std::vector<DevicePiece> pieces;
  std::vector<size_t> numbers;
  for (uint64_t at = 0; at + shard <= kBytes; at += shard) {
    numbers.push_back(pieces.size());
    pieces.push_back({bytes->view<const std::byte>().data + at, shard, sum});
  }
  Result<ChecksumGpu> checks = ChecksumGpu::create(pool, pieces.size());
  if (!checks) return checks.error();
  Status status = measure(state, *stream, [&] { return checks->check(numbers, pieces, *stream); });
  if (!status) return status;
  if (status = checks->collect(*stream); status) status = stream->synchronize();
  if (!status) return status;
  if (checks->is_wrong(0)) return fail(ErrorCode::corrupt, "another checksum");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kBytes));
  return {};
}

int register_benches() {
  const auto add = [](const std::string& name, std::function<Status(benchmark::State&)> body) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [body = std::move(body)](benchmark::State& state) {
                                   if (Status status = body(state); !status) {
                                     state.SkipWithError(status.error().message.c_str());
                                   }
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f8_e4m3, DType::f8_e5m2}) {
    const std::vector<size_t> missing =
        dtype == DType::bf16 ? std::vector<size_t>{0, 4, 6, 7} : std::vector<size_t>{0};
    for (const size_t layers : missing) {
      add(fmt::format("tensors/gpu/embedded/{}/without_last_{}_layers", properties(dtype).name,
                      layers),
          [dtype, layers](benchmark::State& state) { return decode(state, dtype, layers); });
    }
  }
  for (const uint64_t shard : {uint64_t{64} << 10, uint64_t{1} << 20, uint64_t{16} << 20}) {
    add(fmt::format("tensors/gpu/xxh3/shards_of_{}_KiB", shard >> 10),
        [shard](benchmark::State& state) { return check(state, shard); });
  }
  return 0;
}

[[maybe_unused]] const int kRegistered = register_benches();

}  // namespace
}  // namespace hoist::tensors
