// Writing, reading and verifying containers in memory-backed files, beside a copy and a plain
// checksum of the same bytes.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/file.h"
#include "container/reader.h"
#include "container/verify.h"
#include "container/writer.h"

namespace hoist::container {
namespace {

// Block sizes: 64 KiB as of records, 4 MiB as of tensors.
constexpr int64_t kSmall = 64 << 10;
constexpr int64_t kLarge = 4 << 20;

constexpr size_t kTotal = size_t{64} << 20;

const std::string& payload() {
  static const std::string bytes(kTotal, 'x');
  return bytes;
}

// A file in memory that lives as long as the process.
struct MemoryFile {
  int fd = ::memfd_create("container", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(fd);

  ~MemoryFile() { ::close(fd); }
  bool write(size_t block_size, bool digests) const {
    if (::ftruncate(fd, 0) != 0 || ::lseek(fd, 0, SEEK_SET) != 0) return false;
    Result<Writer> writer = Writer::stream(fd, {.digests = digests, .durable = false});
    if (!writer) return false;
    for (uint64_t id = 0; id < kTotal / block_size; ++id) {
      if (!writer->add(id, as_bytes(payload()).subspan(id * block_size, block_size))) return false;
    }
    return writer->commit().has_value();
  }
};

void count(benchmark::State& state, bool good) {
  if (!good) state.SkipWithError("it failed");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kTotal));
}

void write(benchmark::State& state, bool digests) {
  const MemoryFile file;
  bool good = true;
  for (auto _ : state) good = good && file.write(static_cast<size_t>(state.range(0)), digests);
  count(state, good);
}

// Into the same memory again and again.
void read(benchmark::State& state) {
  const MemoryFile file;
  bool good = file.write(static_cast<size_t>(state.range(0)), false);
  const Result<Reader> reader = Reader::open(file.path);
  std::vector<std::byte> into(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    for (const Block& block : reader->blocks()) good = good && reader->read(block, into);
  }
  count(state, good);
}

void view(benchmark::State& state) {
  const MemoryFile file;
  bool good = file.write(static_cast<size_t>(state.range(0)), false);
  const Result<Reader> reader = Reader::open(std::move(*map_file_source(file.path)));
  for (auto _ : state) {
    for (const Block& block : reader->blocks()) good = good && reader->view(block);
  }
  count(state, good);
}

void verify_all(benchmark::State& state, bool digests) {
  const MemoryFile file;
  bool good = file.write(static_cast<size_t>(state.range(0)), digests);
  const auto source = open_file_source(file.path);
  for (auto _ : state) good = good && verify(**source)->ok();
  count(state, good);
}

// The same calls of the system without a container: what a file in memory costs.
void plain_write(benchmark::State& state) {
  const MemoryFile file;
  bool good = true;
  for (auto _ : state) {
    good = good && ::ftruncate(file.fd, 0) == 0 && ::lseek(file.fd, 0, SEEK_SET) == 0 &&
           write_full(file.fd, payload().data(), kTotal);
  }
  count(state, good);
}

void plain_read(benchmark::State& state) {
  const MemoryFile file;
  bool good = write_full(file.fd, payload().data(), kTotal).has_value();
  std::string into(static_cast<size_t>(kLarge), '\0');
  for (auto _ : state) {
    for (size_t at = 0; at < kTotal; at += into.size()) {
      good = good && pread_full(file.fd, into.data(), into.size(), at);
    }
  }
  count(state, good);
}

void copy(benchmark::State& state) {
  std::string into(kTotal, '\0');
  for (auto _ : state) {
    std::memcpy(into.data(), payload().data(), kTotal);
    benchmark::ClobberMemory();
  }
  count(state, true);
}

void plain_checksum(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(xxh3_64(payload().data(), kTotal));
  count(state, true);
}

BENCHMARK_CAPTURE(write, plain, false)->Name("container/write")->Arg(kSmall)->Arg(kLarge);
BENCHMARK_CAPTURE(write, digests, true)->Name("container/write-digests")->Arg(kLarge);
BENCHMARK(read)->Name("container/read")->Arg(kSmall)->Arg(kLarge);
BENCHMARK(view)->Name("container/view-mmap")->Arg(kSmall)->Arg(kLarge);
BENCHMARK_CAPTURE(verify_all, plain, false)
    ->Name("container/verify-all-threads")
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->UseRealTime();
BENCHMARK_CAPTURE(verify_all, digests, true)
    ->Name("container/verify-digests-all-threads")
    ->Arg(kLarge)
    ->UseRealTime();
BENCHMARK(plain_write)->Name("container/write/peer:write");
BENCHMARK(plain_read)->Name("container/read/peer:pread");
BENCHMARK(copy)->Name("container/peer:memcpy");
BENCHMARK(plain_checksum)->Name("container/peer:xxh3");

}  // namespace
}  // namespace hoist::container
