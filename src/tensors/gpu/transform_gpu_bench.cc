// Transformed tensors on the GPU, from and to its own memory: a matrix of 4096 x 4096 from all of
// its eight fragments. Bytes are those of the matrix.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "device/cuda_memory.h"
#include "device/cuda_plugin.h"
#include "tensors/encoded_tensor.h"
#include "tensors/gpu/transform_gpu.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kSide = 4096;
constexpr int kRepeats = 20;  // enqueued at once, so that no launch shows

// A description and fragments of random values: decoding costs the same whatever they are, and
// encoding a matrix of this size takes long.
Result<EncodedTensor> random_fragments(HolographicEncoding encoding, DType dtype) {
  constexpr uint64_t kSmall = 64;
  std::vector<float> values(kSmall * kSmall);
  std::mt19937_64 random(1);
  std::normal_distribution<float> gaussian(0, 0.02F);
  for (float& value : values) value = gaussian(random);
  std::vector<std::byte> bytes(values.size() * properties(dtype).bytes);
  if (Status done = from_f32(values, dtype, bytes); !done) return done.error();
  Result<EncodedTensor> small =
      encode({dtype, {kSmall, kSmall}, bytes}, {.encoding = encoding, .max_rank = 16});
  if (!small) return small;
  Result<TransformLayout> layout = transform_layout(small->description);
  if (!layout) return layout.error();
  layout->elements = kSide * kSide;
  layout->matrix = {kSide, kSide};
  layout->patches = {};
  if (encoding == HolographicEncoding::low_rank_distributed) {
    layout->rank = 256;
  } else {
    layout->common = encoding == HolographicEncoding::spectral ? kSide * kSide / 64 : 0;
    layout->groups = (layout->elements - layout->common) / layout->fragments;
  }
  EncodedTensor large;
  large.description = small->description;
  large.description.shape = {kSide, kSide};
  large.description.parameters = transform_parameters(*layout);
  large.description.part_bytes.clear();
  for (uint32_t fragment = 0; fragment < layout->fragments; ++fragment) {
    std::vector<std::byte> content = empty_fragment(*layout, fragment);
    for (size_t i = sizeof(FragmentHeader); i + 1 < content.size(); i += 2) {
      content[i] = static_cast<std::byte>(random());
      content[i + 1] = static_cast<std::byte>(random() & 0x3b);  // finite, below 1
    }
    large.description.part_bytes.push_back(content.size());
    large.parts.push_back(std::move(content));
  }
  return large;
}

struct Case {
  const char* name;
  HolographicEncoding encoding;
};

Status rebuild(benchmark::State& state, const Case& what, DType dtype) {
  Result<device::Device*> device = device::cuda_device();
  if (!device) return device.error();
  device::PinnedPool pool(**device);
  Result<device::Stream> stream = device::Stream::create(**device);
  if (!stream) return stream.error();
  const Result<EncodedTensor> tensor = random_fragments(what.encoding, dtype);
  if (!tensor) return tensor.error();
  Result<TransformGpu> gpu = TransformGpu::create(pool, tensor->description);
  if (!gpu) return gpu.error();
  std::vector<device::Buffer> buffers;
  std::vector<const std::byte*> fragments;
  for (const std::vector<std::byte>& part : tensor->parts) {
    Result<device::Buffer> buffer = device::Buffer::copy_of(**device, part);
    if (!buffer) return buffer.error();
    fragments.push_back(static_cast<const std::byte*>(buffer->data()));
    buffers.push_back(*std::move(buffer));
  }
  const uint64_t bytes = kSide * kSide * properties(dtype).bytes;
  const Result<device::Buffer> out = device::Buffer::allocate(**device, bytes);
  if (!out) return out.error();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      if (Status done = gpu->reconstruct(fragments, out->data(), *stream); !done) return done;
    }
    if (Status done = stream->synchronize(); !done) return done;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(taken.count() / kRepeats);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
  return {};
}

int register_benches() {
  const Case cases[] = {{"spectral", HolographicEncoding::spectral},
                        {"random_projection", HolographicEncoding::random_projection},
                        {"low_rank_256", HolographicEncoding::low_rank_distributed}};
  for (const Case& what : cases) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string full = fmt::format("tensors/gpu/{}/{}", what.name, properties(dtype).name);
      benchmark::RegisterBenchmark(full.c_str(),
                                   [what, dtype](benchmark::State& state) {
                                     const Status status = rebuild(state, what, dtype);
                                     if (!status) {
                                       state.SkipWithError(status.error().message.c_str());
                                     }
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return 0;
}

[[maybe_unused]] const int kRegistered = register_benches();

}  // namespace
}  // namespace hoist::tensors
