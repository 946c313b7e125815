// Decoding on the GPU, stream and column resident. "moved" counts the bytes read and written, whose
// ceiling is the copy beside it, which reads as much as it writes; bytes_per_second are those of
// the decoded column.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>

#include "codec/bitpack.h"
#include "codec/bitpack_gpu.h"
#include "codec/bitpack_test_columns.h"
#include "codec/integer_column_gpu.h"
#include "device/cuda_memory.h"
#include "device/kernel.h"

namespace hoist::codec {
namespace {

constexpr size_t kColumnBytes = size_t{1} << 30;
constexpr size_t kEncodedPart = size_t{16} << 20;
constexpr size_t kSmallColumnBytes = size_t{256} << 20;  // where the whole column is encoded

struct Case {
  const char* name;
  Shape shape;
  unsigned width;
};

constexpr Case kCases[] = {
    {"unpack/width:3", Shape::narrow, 3},
    {"unpack/width:10", Shape::narrow, 10},
    {"unpack/width:17", Shape::narrow, 17},
    {"unpack/width:27", Shape::narrow, 27},
    {"unpack/width:10_patched_1%", Shape::narrow_patched, 10},
    {"delta/width:10", Shape::sorted, 10},
    {"delta/width:10_patched_1%", Shape::sorted_patched, 10},
    {"delta_of_delta/width:5", Shape::accelerating, 5},
};

// Times `launch`, on the stream, by the device's clock.
void measure(benchmark::State& state, const device::Stream& stream, size_t decoded, size_t moved,
             const std::function<Status()>& launch) {
  Result<device::CudaTimer> timer = device::CudaTimer::create(stream);
  if (!timer) return state.SkipWithError(timer.error().message.c_str());
  for (auto _ : state) {
    Status status = timer->start();
    if (status) status = launch();
    const Result<double> seconds = timer->stop();
    if (!status || !seconds) return state.SkipWithError("the device failed");
    state.SetIterationTime(*seconds);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * decoded));
  state.counters["moved"] =
      benchmark::Counter(static_cast<double>(moved), benchmark::Counter::kIsIterationInvariantRate,
                         benchmark::Counter::kIs1000);
}

// A long stream from a short one: its tiles come round again and again in the offset table, but lie
// in memory as often as they are listed.
std::vector<std::byte> repeat(const std::vector<std::byte>& part, size_t times) {
  StreamHeader header;
  std::memcpy(&header, part.data(), sizeof header);
  const size_t tiles = header.count / kTileValues;
  std::vector<uint32_t> offsets(tiles + 1);
  std::memcpy(offsets.data(), part.data() + sizeof header, offsets.size() * sizeof(uint32_t));
  const size_t body = offsets[tiles] - offsets[0];
  const size_t table = align_tile(static_cast<uint32_t>(sizeof header + (tiles * times + 1) * 4));
  std::vector<std::byte> stream(table + body * times * kTileAlignment);
  header.count *= times;
  std::memcpy(stream.data(), &header, sizeof header);
  for (size_t i = 0; i <= tiles * times; ++i) {
    const size_t unit = table / kTileAlignment + i / tiles * body + offsets[i % tiles] - offsets[0];
    const auto offset = static_cast<uint32_t>(unit);
    std::memcpy(stream.data() + sizeof header + 4 * i, &offset, sizeof offset);
  }
  for (size_t i = 0; i < times; ++i) {
    std::memcpy(stream.data() + table + i * body * kTileAlignment,
                part.data() + size_t{offsets[0]} * kTileAlignment, body * kTileAlignment);
  }
  return stream;
}

template <typename T>
void decode(benchmark::State& state, const Case& wanted) {
  Result<device::Stream> on = device::stream_on_cuda();
  if (!on) return state.SkipWithError(on.error().message.c_str());
  Result<BitpackGpuDecoder> decoder = BitpackGpuDecoder::create(*on);
  if (!decoder) return state.SkipWithError(decoder.error().message.c_str());
  std::mt19937_64 random(1);
  const std::vector<T> column =
      make_column<T>(wanted.shape, wanted.width, kEncodedPart / sizeof(T), random);
  const std::vector<std::byte> stream =
      repeat(*encode_bitpack<T>(column), kColumnBytes / kEncodedPart);
  Result<device::Buffer> packed = device::copy_to_cuda(stream);
  Result<device::Buffer> out = device::allocate_on_cuda(kColumnBytes);
  if (!packed || !out) return state.SkipWithError("too little device memory");
  const DeviceBitpack source{packed->data(), stream.size(), sizeof(T), kColumnBytes / sizeof(T)};
  measure(state, *on, kColumnBytes, kColumnBytes + stream.size(),
          [&] { return decoder->launch(source, out->data()); });
  std::vector<T> last(column.size());
  if (!decoder->finish() ||
      !out->download(std::as_writable_bytes(std::span(last)), kColumnBytes - kEncodedPart) ||
      last != column) {
    state.SkipWithError("decoded something else");
  }
}

// A dictionary or runs: whatever encode_integers() chooses for the column.
template <typename T>
void decode_column(benchmark::State& state, const std::vector<T>& column) {
  Result<device::Stream> on = device::stream_on_cuda();
  if (!on) return state.SkipWithError(on.error().message.c_str());
  Result<DeviceIntegerColumn> packed =
      DeviceIntegerColumn::upload(*on, *encode_integers<T>(column));
  if (!packed) return state.SkipWithError(packed.error().message.c_str());
  const size_t bytes = column.size() * sizeof(T);
  Result<device::Buffer> out = device::allocate_on_cuda(bytes);
  if (!out) return state.SkipWithError("too little device memory");
  measure(state, *on, bytes, bytes + packed->stored_bytes(), [&] { return packed->launch(*out); });
  std::vector<T> decoded(column.size());
  if (!packed->finish() || !out->download(std::as_writable_bytes(std::span(decoded))) ||
      decoded != column) {
    return state.SkipWithError("decoded something else");
  }
  state.SetLabel(std::string(name(packed->coding())));
}

void copy(benchmark::State& state) {
  static constinit const device::Kernel<void*, const void*, size_t> copying("hoist_cuda_copy",
                                                                            "copy");
  Result<device::Stream> on = device::stream_on_cuda();
  if (!on) return state.SkipWithError(on.error().message.c_str());
  Result<device::Buffer> from = device::allocate_on_cuda(kColumnBytes);
  Result<device::Buffer> to = device::allocate_on_cuda(kColumnBytes);
  if (!from || !to) return state.SkipWithError("too little device memory");
  measure(state, *on, kColumnBytes, 2 * kColumnBytes,
          [&] { return copying.launch(*on, to->data(), from->data(), kColumnBytes); });
}

template <typename T>
void register_type(const char* type) {
  for (const Case& each : kCases) {
    benchmark::RegisterBenchmark(fmt::format("codec/bitpack/{}/{}/gpu", each.name, type).c_str(),
                                 [=](benchmark::State& state) { decode<T>(state, each); })
        ->UseManualTime();
  }
  const auto add = [&](const std::string& name, auto make) {
    benchmark::RegisterBenchmark(fmt::format("codec/bitpack/{}/{}/gpu", name, type).c_str(),
                                 [make](benchmark::State& state) {
                                   std::mt19937_64 random(1);
                                   decode_column<T>(state, make(random));
                                 })
        ->UseManualTime();
  };
  for (const size_t entries : {200, 20000}) {
    add(fmt::format("dictionary/entries:{}", entries), [=](std::mt19937_64& random) {
      return few_values<T>(entries, kSmallColumnBytes / sizeof(T), random);
    });
  }
  for (const size_t longest : {10, 1000}) {
    add(fmt::format("runs/up_to:{}", longest), [=](std::mt19937_64& random) {
      return long_runs<T>(longest, kSmallColumnBytes / sizeof(T), random);
    });
  }
}

const bool registered = [] {
  register_type<uint32_t>("u32");
  register_type<uint64_t>("u64");
  benchmark::RegisterBenchmark("codec/bitpack/peer:copy/gpu", copy)->UseManualTime();
  return true;
}();

}  // namespace
}  // namespace hoist::codec
