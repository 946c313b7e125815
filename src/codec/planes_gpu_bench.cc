// Planes on the GPU, resident; a copy of the same bytes is their ceiling.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codec/planes_gpu.h"
#include "device/cuda_memory.h"
#include "device/kernel.h"

namespace hoist::codec {
namespace {

constexpr size_t kBytes = size_t{1} << 30;

using device::Stream;
using Launch = std::function<Status(const Stream& stream, const void* in, void* out)>;

constinit const device::Kernel<void*, const void*, size_t> copy("hoist_cuda_copy", "copy");

// Constant data would flatter: it toggles no wires and compresses on its way.
Status fill_randomly(device::Buffer& buffer) {
  constexpr size_t kPart = size_t{64} << 20;
  static const std::vector<uint64_t> random = [] {
    std::mt19937_64 generator(1);
    std::vector<uint64_t> words(kPart / sizeof(uint64_t));
    for (uint64_t& word : words) word = generator();
    return words;
  }();
  Status status;
  for (size_t at = 0; status && at < buffer.size(); at += kPart) {
    status = buffer.upload(std::as_bytes(std::span(random)), at);
  }
  return status;
}

void measure(benchmark::State& state, const Launch& launch) {
  Result<Stream> stream = device::stream_on_cuda();
  if (!stream) return state.SkipWithError(stream.error().message.c_str());
  Result<device::CudaTimer> timer = device::CudaTimer::create(*stream);
  Result<device::Buffer> from = device::allocate_on_cuda(kBytes);
  Result<device::Buffer> to = device::allocate_on_cuda(kBytes);
  if (!timer || !from || !to || !fill_randomly(*from)) {
    return state.SkipWithError("too little device memory");
  }
  for (auto _ : state) {
    Status status = timer->start();
    if (status) status = launch(*stream, from->data(), to->data());
    const Result<double> seconds = timer->stop();
    if (!status || !seconds) return state.SkipWithError("the device failed");
    state.SetIterationTime(*seconds);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
}

void add(const std::string& name, Launch launch) {
  benchmark::RegisterBenchmark(("codec/planes/" + name).c_str(), measure, std::move(launch))
      ->UseManualTime();
}

const bool registered = [] {
  for (const unsigned width : {2u, 4u, 8u}) {
    add(fmt::format("split_bytes{}/gpu", width),
        [=](const Stream& stream, const void* in, void* out) {
          return split_bytes_gpu(stream, in, kBytes, width, out);
        });
    add(fmt::format("merge_bytes{}/gpu", width),
        [=](const Stream& stream, const void* in, void* out) {
          return merge_bytes_gpu(stream, in, kBytes, width, out);
        });
  }
  for (const unsigned width : {1u, 2u, 4u}) {
    add(fmt::format("split_bits{}/gpu", 8 * width),
        [=](const Stream& stream, const void* in, void* out) {
          return split_bits_gpu(stream, in, kBytes / width, width, out);
        });
    add(fmt::format("merge_bits{}/gpu", 8 * width),
        [=](const Stream& stream, const void* in, void* out) {
          return merge_bits_gpu(stream, in, kBytes / width, width, out);
        });
  }
  add("split_bf16/gpu", [](const Stream& stream, const void* in, void* out) {
    return split_bf16_gpu(stream, in, kBytes / 2, out, static_cast<std::byte*>(out) + kBytes / 2);
  });
  add("merge_bf16/gpu", [](const Stream& stream, const void* in, void* out) {
    return merge_bf16_gpu(stream, in, static_cast<const std::byte*>(in) + kBytes / 2, kBytes / 2,
                          out);
  });
  add("peer:copy/gpu", [](const Stream& stream, const void* in, void* out) {
    return copy.launch(stream, out, in, kBytes);
  });
  return true;
}();

}  // namespace
}  // namespace hoist::codec
