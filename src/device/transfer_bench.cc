// Transfers by path and size beside cudaMemcpy. "busy" is the processor time of the whole process
// over the time that passed: how many cores a transfer keeps.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/threads.h"
#include "device/bench_tuning.h"
#include "device/buffer.h"
#include "device/kernel.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"

namespace hoist::device {
namespace {

constexpr size_t kKibibyte = size_t{1} << 10;
constexpr size_t kMebibyte = size_t{1} << 20;
constexpr size_t kGibibyte = size_t{1} << 30;
constexpr size_t kSizes[] = {4 * kKibibyte,   64 * kKibibyte, 256 * kKibibyte, kMebibyte,
                             4 * kMebibyte,   16 * kMebibyte, 32 * kMebibyte,  64 * kMebibyte,
                             256 * kMebibyte, kGibibyte,      4 * kGibibyte};
constexpr size_t kLargestFile = kGibibyte;
constexpr size_t kLargestPinned = kGibibyte;

// Random bytes in ordinary pages, as malloc() gives them.
class HostMemory {
 public:
  explicit HostMemory(size_t size) : size_(size), data_(new std::byte[size]) {
    constexpr size_t kPart = 16 * kMebibyte;
    ThreadPool::process().parallel_for((size + kPart - 1) / kPart, [&](size_t part) {
      std::mt19937_64 random(part);
      const size_t end = std::min(size, (part + 1) * kPart);
      for (size_t at = part * kPart; at + 8 <= end; at += 8) {
        const uint64_t word = random();
        std::memcpy(data_.get() + at, &word, sizeof word);
      }
    });
  }
  std::span<std::byte> bytes(size_t size) const { return {data_.get(), size}; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  std::unique_ptr<std::byte[]> data_;
};

// What all rows share, made once, as large as was asked for so far.
class Bench {
 public:
  static Result<Bench*> get(size_t size) {
    static Bench* const bench = new Bench;
    if (Status ready = bench->prepare(size); !ready) return ready.error();
    return bench;
  }

  Device& device() const { return *device_; }
  Transfer& transfer() { return *transfer_; }
  std::span<std::byte> host(size_t size) const { return host_->bytes(size); }
  std::span<std::byte> other_host(size_t size) const {
    return host_->bytes(host_->size()).subspan(size, size);
  }
  Span<std::byte> on_device(size_t size) const { return near_->view().subspan(0, size); }
  Span<std::byte> other_on_device(size_t size) const { return near_->view().subspan(size, size); }

  // Both directions' worth, pinned once; the pool's blocks are too small for this.
  Result<std::byte*> pinned() {
    if (pinned_ == nullptr) {
      PageBuffer pages(2 * kLargestPinned);
      if (Status done = device_->pin(pages.data(), pages.size()); !done) {
        return done.error();
      }
      static PageBuffer kept = std::move(pages);
      pinned_ = reinterpret_cast<std::byte*>(kept.data());
    }
    return pinned_;
  }

  Result<int> file() {
    if (!file_.valid()) {
      const char* folder = std::getenv("TMPDIR");
      Result<UniqueFd> file =
          open_file(folder != nullptr ? folder : "/tmp", O_TMPFILE | O_RDWR, 0600);
      if (!file) return file.error();
      const HostMemory content(kLargestFile);
      Status written = write_full(file->get(), content.bytes(kLargestFile).data(), kLargestFile);
      if (!written) return written.error();
      file_ = std::move(*file);
    }
    return file_.get();
  }

 private:
  Status prepare(size_t size) {
    if (device_ == nullptr) {
      const Result<TransferTuning> wanted = bench_tuning();
      if (!wanted) return wanted.error();
      Result<Device*> device = find_device("cuda");
      if (!device) return device.error();
      device_ = *device;
      pool_.emplace(*device_);
      transfer_.emplace(*pool_, *wanted);
    }
    const size_t wanted = 2 * size;  // both directions at once
    if (!host_ || host_->size() < wanted) host_.emplace(wanted);
    if (!near_ || near_->size() < wanted) {
      near_.reset();
      Result<Buffer> buffer = Buffer::allocate(*device_, wanted);
      if (!buffer) return buffer.error();
      near_.emplace(std::move(*buffer));
    }
    return {};
  }

  Device* device_ = nullptr;
  std::optional<PinnedPool> pool_;
  std::optional<Transfer> transfer_;
  std::optional<HostMemory> host_;
  std::optional<Buffer> near_;
  std::byte* pinned_ = nullptr;
  UniqueFd file_;
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

using Move = std::function<Status(Bench& bench, size_t size)>;

// After a call that doesn't count.
void measure(benchmark::State& state, size_t size, size_t moved, const Move& move) {
  const Result<Bench*> bench = Bench::get(size);
  if (!bench) return state.SkipWithError(bench.error().message.c_str());
  if (Status warm = move(**bench, size); !warm) {
    return state.SkipWithError(warm.error().message.c_str());
  }
  const double processor_before = processor_seconds();
  const auto before = std::chrono::steady_clock::now();
  for (auto _ : state) {
    if (Status done = move(**bench, size); !done) {
      return state.SkipWithError(done.error().message.c_str());
    }
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - before;
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * moved));
  state.counters["busy"] = (processor_seconds() - processor_before) / passed.count();
}

Status both(const std::function<Status()>& up, const std::function<Status()>& down) {
  Status uploaded;
  std::thread uploader([&] { uploaded = up(); });
  Status downloaded = down();
  uploader.join();
  return uploaded ? downloaded : uploaded;
}

Status upload(Bench& bench, size_t size) {
  return bench.transfer().upload(std::span<const std::byte>(bench.host(size)),
                                 bench.on_device(size));
}
Status download(Bench& bench, size_t size) {
  return bench.transfer().download(bench.other_on_device(size), bench.other_host(size));
}
Status upload_file(Bench& bench, size_t size) {
  const Result<int> file = bench.file();
  if (!file) return file.error();
  return bench.transfer().upload(HostFile{*file, 0}, bench.on_device(size));
}
Status upload_pinned(Bench& bench, size_t size) {
  const Result<std::byte*> pinned = bench.pinned();
  if (!pinned) return pinned.error();
  return bench.transfer().upload(std::span<const std::byte>(*pinned, size), bench.on_device(size));
}
Status download_pinned(Bench& bench, size_t size) {
  const Result<std::byte*> pinned = bench.pinned();
  if (!pinned) return pinned.error();
  return bench.transfer().download(bench.other_on_device(size),
                                   std::span(*pinned + kLargestPinned, size));
}

// The driver's own copies: cudaMemcpy().
Status driver_copy(void* to, const void* from, size_t size) {
  static constinit const Kernel<void*, const void*, size_t> copy("hoist_cuda_copy", "copy");
  const Result<Device*> device = cuda_device();
  if (!device) return device.error();
  return copy.launch(**device, {}, to, from, size);
}
Status driver_upload(Bench& bench, size_t size) {
  return driver_copy(bench.on_device(size).data, bench.host(size).data(), size);
}
Status driver_download(Bench& bench, size_t size) {
  return driver_copy(bench.other_host(size).data(), bench.other_on_device(size).data, size);
}
Status driver_upload_file(Bench& bench, size_t size) {
  const Result<int> file = bench.file();
  if (!file) return file.error();
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, *file, 0);
  if (mapped == MAP_FAILED) return fail(ErrorCode::io, "cannot map the file");
  const Status done = driver_copy(bench.on_device(size).data, mapped, size);
  ::munmap(mapped, size);
  return done;
}
Status driver_upload_pinned(Bench& bench, size_t size) {
  const Result<std::byte*> pinned = bench.pinned();
  if (!pinned) return pinned.error();
  return driver_copy(bench.on_device(size).data, *pinned, size);
}
Status driver_download_pinned(Bench& bench, size_t size) {
  const Result<std::byte*> pinned = bench.pinned();
  if (!pinned) return pinned.error();
  return driver_copy(*pinned + kLargestPinned, bench.other_on_device(size).data, size);
}

Move at_once(Move up, Move down) {
  return [=](Bench& bench, size_t size) {
    return both([&] { return up(bench, size); }, [&] { return down(bench, size); });
  };
}

struct Path {
  const char* name;  // "upload/pageable"
  const char* peer;  // its name with the peer's component
  Move ours;
  Move drivers;
  size_t largest;
  size_t directions = 1;
};

std::string text_of(size_t size) {
  if (size >= kGibibyte) return fmt::format("{}GiB", size / kGibibyte);
  if (size >= kMebibyte) return fmt::format("{}MiB", size / kMebibyte);
  return fmt::format("{}KiB", size / kKibibyte);
}

const bool registered = [] {
  constexpr size_t kAll = 4 * kGibibyte;
  const Path paths[] = {
      {"upload/pageable", "upload/peer:cudaMemcpy/pageable", upload, driver_upload, kAll},
      {"download/pageable", "download/peer:cudaMemcpy/pageable", download, driver_download, kAll},
      {"upload/file", "upload/peer:mmap+cudaMemcpy/file", upload_file, driver_upload_file,
       kLargestFile},
      {"upload/pinned", "upload/peer:cudaMemcpy/pinned", upload_pinned, driver_upload_pinned,
       kLargestPinned},
      {"download/pinned", "download/peer:cudaMemcpy/pinned", download_pinned,
       driver_download_pinned, kLargestPinned},
      {"both/pageable", "both/peer:cudaMemcpy/pageable", at_once(upload, download),
       at_once(driver_upload, driver_download), kAll, 2},
      {"both/pinned", "both/peer:cudaMemcpy/pinned", at_once(upload_pinned, download_pinned),
       at_once(driver_upload_pinned, driver_download_pinned), kLargestPinned, 2},
  };
  for (const Path& path : paths) {
    for (const size_t size : kSizes) {
      if (size > path.largest) continue;
      const auto add = [&](const char* name, const Move& move) {
        benchmark::RegisterBenchmark(
            fmt::format("device/transfer/{}/{}", name, text_of(size)).c_str(),
            [=, moved = size * path.directions](benchmark::State& state) {
              measure(state, size, moved, move);
            })
            ->UseRealTime();
      };
      add(path.name, path.ours);
      add(path.peer, path.drivers);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::device
