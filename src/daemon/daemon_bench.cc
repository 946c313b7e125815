// What a request costs, and copies through the shared pool beside memcpy(): hoistd on threads of
// this process, with a GPU where there is one, else with the CPU device.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "daemon/daemon_testing.h"
#include "device/bench_tuning.h"
#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/remote/futex.h"
#include "device/transfer.h"

namespace hoist::daemon {
namespace {

using device::Buffer;
using device::remote::Connection;
using device::remote::RemoteDevice;
using device::remote::Ticket;

constexpr uint64_t kKibibyte = 1 << 10;
constexpr uint64_t kMebibyte = 1 << 20;
constexpr uint64_t kSizes[] = {4 * kKibibyte, 64 * kKibibyte, kMebibyte,
                               8 * kMebibyte, 64 * kMebibyte, 512 * kMebibyte};

std::string size_text(uint64_t size) {
  return size < kMebibyte ? fmt::format("{}KiB", size / kKibibyte)
                          : fmt::format("{}MiB", size / kMebibyte);
}

TestServer start_server() {
  device::Device& device = *device::find_device("auto").value_or(&device::cpu_device());
  return TestServer(device, device.properties().kind == device::DeviceKind::cuda);
}

std::shared_ptr<RemoteDevice> connect(benchmark::State& state, const TestServer& server) {
  Result<std::shared_ptr<RemoteDevice>> device = server.connect(uint64_t{160} << 20);
  if (device) return *device;
  state.SkipWithError(device.error().message.c_str());
  return nullptr;
}

double percentile(std::vector<uint64_t>& times, double share) {
  const auto at = times.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(times.size()));
  std::nth_element(times.begin(), at, times.end());
  return static_cast<double>(*at) / 1e3;
}

// `in_flight` requests that do nothing, submitted together.
void round_trip(benchmark::State& state, size_t in_flight) {
  const TestServer server = start_server();
  const auto device = connect(state, server);
  if (device == nullptr) return;
  Connection& connection = device->connection();
  const hoist_request nothing = {};
  std::vector<uint64_t> times;
  std::vector<Ticket> tickets(in_flight);
  for (auto _ : state) {
    const uint64_t begin = monotonic_ns();
    for (Ticket& ticket : tickets) {
      if (Result<Ticket> submitted = connection.submit(0, nothing)) ticket = *submitted;
    }
    for (const Ticket& ticket : tickets) (void)connection.wait(ticket);
    times.push_back(monotonic_ns() - begin);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * in_flight));
  state.counters["p50_us"] = percentile(times, 0.5);
  state.counters["p99_us"] = percentile(times, 0.99);
}

// There and back.
void copy(benchmark::State& state, uint64_t size, bool pinned) {
  const TestServer server = start_server();
  const auto device = connect(state, server);
  if (device == nullptr) return;
  Result<Buffer> buffer = Buffer::allocate(*device, size);
  const std::unique_ptr<std::byte[]> plain(new std::byte[2 * size]());
  auto* const pool = static_cast<std::byte*>(device->allocate_pinned(2 * size).value_or(nullptr));
  if (!buffer || pool == nullptr) return state.SkipWithError("no memory");
  std::memset(pool, 1, 2 * size);
  std::byte* const host = pinned ? pool : plain.get();
  if (!pinned) (void)device->free_pinned(pool, 2 * size);  // staging needs it
  const auto there_and_back = [&] {
    Status done = device->copy(buffer->data(), host, size, {});
    return done ? device->copy(host + size, buffer->data(), size, {}) : done;
  };
  Status done = there_and_back();  // the daemon maps the pages that it touches
  for (auto _ : state) {
    if (done) done = there_and_back();
  }
  if (!done) return state.SkipWithError(done.error().message.c_str());
  state.SetBytesProcessed(static_cast<int64_t>(2 * size * state.iterations()));
}

// Pageable memory by Transfer, in one direction or in both at once.
enum class Way { up, down, both };

void transfer(benchmark::State& state, uint64_t size, Way way) {
  const TestServer server = start_server();
  const auto device = connect(state, server);
  if (device == nullptr) return;
  const Result<device::TransferTuning> tuning = device::bench_tuning();
  if (!tuning) return state.SkipWithError(tuning.error().message.c_str());
  device::PinnedPool pool(*device);
  device::Transfer transfer(pool, *tuning);
  Result<Buffer> there = Buffer::allocate(*device, size);
  Result<Buffer> back = Buffer::allocate(*device, size);
  if (!there || !back) return state.SkipWithError("no memory");
  std::vector<std::byte> from(size, std::byte{1});
  std::vector<std::byte> to(size, std::byte{2});
  const auto up = [&] { return transfer.upload(std::span<const std::byte>(from), there->view()); };
  const auto down = [&] {
    return transfer.download(back->view<const std::byte>(), std::span<std::byte>(to));
  };
  const auto once = [&]() -> Status {
    if (way == Way::up) return up();
    if (way == Way::down) return down();
    Status downloaded;
    std::thread other([&] { downloaded = down(); });
    Status uploaded = up();
    other.join();
    return uploaded ? downloaded : uploaded;
  };
  Status done = once();  // the daemon maps the pages that it touches
  for (auto _ : state) {
    if (done) done = once();
  }
  if (!done) return state.SkipWithError(done.error().message.c_str());
  const uint64_t ways = way == Way::both ? 2 : 1;
  state.SetBytesProcessed(static_cast<int64_t>(ways * size * state.iterations()));
}

void copy_by_memcpy(benchmark::State& state, uint64_t size) {
  const std::unique_ptr<std::byte[]> host(new std::byte[2 * size]());
  const std::unique_ptr<std::byte[]> other(new std::byte[size]());
  for (auto _ : state) {
    std::memcpy(other.get(), host.get(), size);
    benchmark::ClobberMemory();
    std::memcpy(host.get() + size, other.get(), size);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(2 * size * state.iterations()));
}

const bool registered = [] {
  for (const size_t in_flight : {size_t{1}, size_t{16}}) {
    benchmark::RegisterBenchmark(fmt::format("device/hoistd/requests/{}", in_flight).c_str(),
                                 round_trip, in_flight)
        ->UseRealTime();
  }
  for (const uint64_t size : kSizes) {
    const std::string text = size_text(size);
    const auto add = [&](const char* variant, auto&& body) {
      benchmark::RegisterBenchmark(fmt::format("device/hoistd/copy/{}/{}", variant, text).c_str(),
                                   body)
          ->UseRealTime();
    };
    // There and back, they have the pool together.
    if (size <= 64 * kMebibyte) {
      add("pool", [size](benchmark::State& state) { copy(state, size, true); });
    }
    add("staged", [size](benchmark::State& state) { copy(state, size, false); });
    add("transfer_up", [size](benchmark::State& state) { transfer(state, size, Way::up); });
    add("transfer_down", [size](benchmark::State& state) { transfer(state, size, Way::down); });
    add("transfer_both", [size](benchmark::State& state) { transfer(state, size, Way::both); });
    add("peer:memcpy", [size](benchmark::State& state) { copy_by_memcpy(state, size); });
  }
  return true;
}();

}  // namespace
}  // namespace hoist::daemon
