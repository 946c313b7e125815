// Tunings of transfers beside one another (device/bench_tuning.h), call by call in turn, in one
// process: what a host's neighbours do meets all of them. kUsage says the rest.
#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/threads.h"
#include "device/bench_tuning.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage = R"(usage: compare_tunings DEVICE SECONDS TUNING...

Measures transfers by each tuning in turn, call by call, for SECONDS a path and size; prints a table
of GB/s: the best call, the best tenth, the median ("both": one up and one down at once, their sum).
On a busy host the first two say what a tuning can do, and the median what it does there. DEVICE:
cuda, cuda:N or cpu (8 MiB only). A tuning names what is otherwise than usual; a wrong name lists
those there are.

examples:
  compare_tunings cuda 5 "" demoted=0
  compare_tunings cuda 2 "" "threads=7 piece=256" "copy_kernel=0"

Exit status: 0 done; 1 failed, or no such device here; 2 usage.
)";

constexpr size_t kMebibyte = size_t{1} << 20;
constexpr int kInARow = 3;  // of which the first warms up what the tuning has of its own

struct Tuned {
  std::string name;
  std::unique_ptr<Transfer> transfer;
  std::vector<double> rates;  // of one path and size, bytes a second
};

struct Path {
  const char* name;
  size_t directions;  // that move so many bytes each
  std::function<Status(Transfer& transfer, size_t size)> move;
};

Status measure(const Path& path, size_t size, double seconds, std::vector<Tuned>& all) {
  for (Tuned& one : all) one.rates.clear();
  const Clock::time_point begin = Clock::now();
  const auto spent = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  for (size_t turn = 0; turn == 0 || spent(begin) < seconds; ++turn) {
    for (size_t i = 0; i < all.size(); ++i) {
      Tuned& one = all[(turn + i) % all.size()];
      for (int call = 0; call < kInARow; ++call) {
        const Clock::time_point start = Clock::now();
        if (Status done = path.move(*one.transfer, size); !done) return done;
        const auto moved = static_cast<double>(path.directions * size);
        if (call > 0) one.rates.push_back(moved / spent(start));
      }
    }
  }
  return {};
}

void print(const Path& path, size_t size, std::vector<Tuned>& all) {
  for (Tuned& one : all) {
    std::sort(one.rates.rbegin(), one.rates.rend());
    const auto at = [&](size_t share) { return one.rates[one.rates.size() / share] / 1e9; };
    fmt::print("| {} | {} MiB | {} | {:.2f} | {:.2f} | {:.2f} | {} |\n", path.name,
               size / kMebibyte, one.name.empty() ? "as it is" : one.name, one.rates[0] / 1e9,
               at(10), at(2), one.rates.size());
  }
  std::fflush(stdout);
}

void fill(std::vector<std::byte>& bytes) {
  constexpr size_t kPart = 4 * kMebibyte;
  ThreadPool::process().parallel_for(bytes.size() / kPart, [&](size_t part) {
    std::mt19937_64 random(part);
    for (size_t at = part * kPart; at < (part + 1) * kPart; ++at) {
      bytes[at] = static_cast<std::byte>(random());
    }
  });
}

Status compare(const char* device_name, double seconds, const std::vector<std::string>& tunings) {
  const Result<Device*> device = find_device(device_name);
  if (!device) return device.error();
  PinnedPool pool(**device);
  std::vector<Tuned> all;
  for (const std::string& name : tunings) {
    const Result<TransferTuning> tuning = parse_tuning(name);
    if (!tuning) return tuning.error();
    all.push_back({name, std::make_unique<Transfer>(pool, *tuning), {}});
  }
  const bool is_cpu = (*device)->properties().kind == DeviceKind::cpu;
  const std::vector<size_t> sizes =
      is_cpu ? std::vector<size_t>{8} : std::vector<size_t>{8, 16, 32, 64, 128, 256, 1024};
  std::vector<std::byte> host(sizes.back() * kMebibyte);
  fill(host);
  std::vector<std::byte> other_host(host.size());
  Result<Buffer> buffer = Buffer::allocate(**device, host.size());
  Result<Buffer> other = Buffer::allocate(**device, host.size());
  if (!buffer || !other) return buffer ? other.error() : buffer.error();
  const char* const folder = std::getenv("TMPDIR");
  Result<UniqueFd> file = open_file(folder != nullptr ? folder : "/tmp", O_TMPFILE | O_RDWR, 0600);
  if (!file) return file.error();
  if (Status written = write_full(file->get(), host.data(), host.size()); !written) return written;

  const auto there = [&](size_t size) { return buffer->view().subspan(0, size); };
  const Path paths[] = {
      {"up", 1,
       [&](Transfer& transfer, size_t size) {
         return transfer.upload(std::span<const std::byte>(host.data(), size), there(size));
       }},
      {"down", 1,
       [&](Transfer& transfer, size_t size) {
         return transfer.download(there(size), std::span<std::byte>(host.data(), size));
       }},
      {"file", 1,
       [&](Transfer& transfer, size_t size) {
         return transfer.upload(HostFile{file->get(), 0}, there(size));
       }},
      {"both", 2,
       [&](Transfer& transfer, size_t size) {
         Status uploaded;
         std::thread uploader([&] {
           uploaded = transfer.upload(std::span<const std::byte>(host.data(), size), there(size));
         });
         Status downloaded = transfer.download(other->view().subspan(0, size),
                                               std::span<std::byte>(other_host.data(), size));
         uploader.join();
         return uploaded ? downloaded : uploaded;
       }},
  };
  fmt::print(
      "| | | tuning | best | best tenth | median | calls |\n|---|---|---|--:|--:|--:|--:|\n");
  for (const Path& path : paths) {
    for (const size_t size : sizes) {
      if (Status done = measure(path, size * kMebibyte, seconds, all); !done) return done;
      print(path, size * kMebibyte, all);
    }
  }
  return {};
}

}  // namespace
}  // namespace hoist::device

int main(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    fmt::print("{}", hoist::device::kUsage);
    return 0;
  }
  char* end = nullptr;
  const double seconds = argc > 3 ? std::strtod(argv[2], &end) : 0;
  if (argc < 4 || end == argv[2] || *end != '\0' || !(seconds >= 0)) {
    fmt::print(stderr, "{}", hoist::device::kUsage);
    return 2;
  }
  const hoist::Status done =
      hoist::device::compare(argv[1], seconds, std::vector<std::string>(argv + 3, argv + argc));
  if (done) return 0;
  fmt::print(stderr, "compare_tunings: error: {}\n", done.error().message);
  return done.error().code == hoist::ErrorCode::invalid_argument ? 2 : 1;
}
