// Copies by several threads, their start counted in, beside the C library's memmove(): into memory
// that has been written before ("warm"), and into fresh memory, whose page faults count. Bytes are
// those copied.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstring>

#include "base/file.h"
#include "base/threads.h"
#include "ops/memcpy/copy.h"

namespace hoist::memcpy {
namespace {

// `threads`: 0 for the C library.
void copy_once(std::byte* to, const std::byte* from, size_t size, int threads) {
  if (threads == 0) {
    std::memmove(to, from, size);
  } else {
    ThreadPool pool(threads);
    copy(to, from, size, pool);
  }
  benchmark::ClobberMemory();
}

std::byte* bytes_of(PageBuffer& buffer) { return reinterpret_cast<std::byte*>(buffer.data()); }

void run(benchmark::State& state, size_t size, int threads, bool fresh) {
  PageBuffer from(size);
  PageBuffer to(size);
  if (from.data() == nullptr || to.data() == nullptr) return state.SkipWithError("no memory");
  std::memset(from.data(), 1, size);
  std::memset(to.data(), 2, size);
  for (auto _ : state) {
    if (fresh) {
      state.PauseTiming();
      to = PageBuffer();
      to = PageBuffer(size);
      if (to.data() == nullptr) return state.SkipWithError("no memory");
      state.ResumeTiming();
    }
    copy_once(bytes_of(to), bytes_of(from), size, threads);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}

const bool registered = [] {
  for (const bool fresh : {false, true}) {
    for (const size_t mebibytes : {8, 16, 32, 64, 256, 1024}) {
      for (const int threads : {0, 2, 4, 8}) {
        const std::string who = threads == 0 ? "peer:libc" : fmt::format("{}-threads", threads);
        const std::string name =
            fmt::format("memcpy/{}/{}/{}MiB", fresh ? "fresh" : "warm", who, mebibytes);
        benchmark::RegisterBenchmark(name.c_str(), run, mebibytes << 20, threads, fresh)
            ->UseRealTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::memcpy
