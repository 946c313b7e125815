// Byte and bit planes on one core, beside a copy of the same bytes: a block that lies in the
// second-level cache, and one far beyond the last.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "codec/planes.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;
using Transform = std::function<Status(const Bytes& from, Bytes& to)>;

void measure(benchmark::State& state, size_t size, const Transform& transform) {
  const Bytes from(size, std::byte{0x5a});
  Bytes to(size);
  for (auto _ : state) {
    if (!transform(from, to)) return state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}

void add(const std::string& name, const Transform& transform) {
  for (const auto& [place, size] :
       {std::pair{"cache", size_t{1} << 18}, {"memory", size_t{1} << 26}}) {
    benchmark::RegisterBenchmark(
        fmt::format("codec/planes/{}/{}", name, place).c_str(),
        [=, size = size](benchmark::State& state) { measure(state, size, transform); });
  }
}

const bool registered = [] {
  for (const size_t width : {2, 4, 8}) {
    add(fmt::format("split_bytes{}", width),
        [=](const Bytes& from, Bytes& to) { return split_bytes(from, width, to); });
    add(fmt::format("merge_bytes{}", width),
        [=](const Bytes& from, Bytes& to) { return merge_bytes(from, width, to); });
  }
  for (const size_t width : {1, 2, 4}) {
    add(fmt::format("split_bits{}", 8 * width),
        [=](const Bytes& from, Bytes& to) { return split_bits(from, width, to); });
    add(fmt::format("merge_bits{}", 8 * width),
        [=](const Bytes& from, Bytes& to) { return merge_bits(from, width, to); });
  }
  add("split_bf16", [](const Bytes& from, Bytes& to) {
    const size_t half = to.size() / 2;
    return split_bf16(from, std::span(to).first(half), std::span(to).last(half));
  });
  add("merge_bf16", [](const Bytes& from, Bytes& to) {
    const size_t half = from.size() / 2;
    return merge_bf16(std::span(from).first(half), std::span(from).last(half), to);
  });
  add("peer:memcpy", [](const Bytes& from, Bytes& to) -> Status {
    std::memcpy(to.data(), from.data(), from.size());
    return {};
  });
  return true;
}();

}  // namespace
}  // namespace hoist::codec
