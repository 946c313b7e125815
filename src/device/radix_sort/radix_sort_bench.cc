// radix_sort/entries/threads:T/BYTES: 16-byte entries in host memory, sorted in place by the first
// GPU, with transfers of T threads; beside it what the same bytes take there and back unsorted.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <random>
#include <string>

#include "base/file.h"
#include "device/buffer.h"
#include "device/radix_sort/there_and_back.h"

namespace hoist::device::radix_sort {
namespace {

constexpr size_t kSizes[] = {size_t{16} << 20, size_t{256} << 20, size_t{1} << 30, size_t{4} << 30};
constexpr int kThreads[] = {8, 16};

std::string size_text(size_t size) {
  return size >> 30 != 0 ? fmt::format("{}GiB", size >> 30) : fmt::format("{}MiB", size >> 20);
}

using Body = Status(Device& device, Transfer& transfer, std::span<std::byte> memory);

// Keys in no order, payloads ascending.
void fill(std::span<std::byte> memory) {
  std::minstd_rand random(1);
  auto* const entries = reinterpret_cast<Entry*>(memory.data());
  for (size_t i = 0; i < memory.size() / sizeof(Entry); ++i) {
    entries[i] = {i, uint64_t{random()} << 33 ^ uint64_t{random()} << 3};
  }
}

// After a call that doesn't count. What is sorted already takes a GPU no less than what is not.
void measure(benchmark::State& state, size_t size, int threads, Body* body) {
  const Result<Device*> device = find_device("cuda");
  if (!device) return state.SkipWithError(device.error().message.c_str());
  PageBuffer memory(size);
  if (memory.data() == nullptr) return state.SkipWithError("no memory");
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(memory.data()), size);
  fill(bytes);
  PinnedPool pool(**device);
  Transfer transfer(pool, tuning_for(threads));
  Status done = body(**device, transfer, bytes);
  for (auto _ : state) {
    if (done) done = body(**device, transfer, bytes);
  }
  if (!done) return state.SkipWithError(done.error().message.c_str());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}

Status sort_in_place(Device& device, Transfer& transfer, std::span<std::byte> memory) {
  return sort({.kind = Kind::entry, .from = memory, .to = memory}, device, transfer);
}

Status copy_there_and_back(Device& device, Transfer& transfer, std::span<std::byte> memory) {
  Result<Stream> stream = Stream::create(device);
  if (!stream) return stream.error();
  const Result<Buffer> buffer = Buffer::allocate(*stream, memory.size());
  if (!buffer) return buffer.error();
  if (Status ready = stream->synchronize(); !ready) return ready;
  if (Status up = transfer.upload(memory, buffer->view()); !up) return up;
  return transfer.download(buffer->view<const std::byte>(), memory);
}

const bool kRegistered = [] {
  const auto add = [](const std::string& name, size_t size, int threads, Body* body) {
    benchmark::RegisterBenchmark(
        name.c_str(), [=](benchmark::State& state) { measure(state, size, threads, body); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const size_t size : kSizes) {
    for (const int threads : kThreads) {
      add(fmt::format("radix_sort/entries/threads:{}/{}", threads, size_text(size)), size, threads,
          sort_in_place);
    }
    add(fmt::format("radix_sort/peer:copies/{}", size_text(size)), size, 8, copy_there_and_back);
  }
  return true;
}();

}  // namespace
}  // namespace hoist::device::radix_sort
