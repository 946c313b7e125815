// Scans on a GPU, the patterns (scan/scan_bench_data.h) resident. "scan" is the kernels and the
// clearing of their counter, many of them put on the stream at once; "search" is a call of GpuScan,
// states in and matches out. Items are pairs of a state and a pattern; bytes are those of the
// segment's symbols, once a pass. HOIST_MATCH_BENCH_DEVICES=N searches on N devices.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>

#include "device/cuda_plugin.h"
#include "match/gpu/gpu_scan.h"
#include "match/gpu/scan_enqueue.h"
#include "match/gpu/scan_plan.h"
#include "match/scan/scan_bench_data.h"
#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

constexpr int kScansAtOnce = 20;

double threshold_of(const benchmark::State& state) {
  return static_cast<double>(state.range(1)) / 1000;
}

void count(benchmark::State& state, const SegmentView& view) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * view.pattern_count() *
                                               static_cast<uint64_t>(state.range(2))));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * view.symbols16.size_bytes()));
}

Status run_scans(benchmark::State& state, Scorer scorer, device::Device& device) {
  const bench::Data& d = bench::data(static_cast<uint32_t>(state.range(0)));
  const SegmentView view = d.segment.view();
  const std::shared_ptr<ScanDevice> devices[] = {std::make_shared<ScanDevice>(device)};
  auto segment = DeviceSegment::upload(view, devices, UINT64_MAX);
  if (!segment) return segment.error();
  const SegmentPart& part = (*segment)->parts().front();
  std::vector<ScanState> states;
  for (const auto& query : d.queries(static_cast<size_t>(state.range(2)))) {
    states.push_back({dense_ids(view, query), threshold_of(state)});
  }
  const ScanPlan plan(part.runs, false, states, scorer);
  auto sent = device::Buffer::copy_of(device, plan.bytes());
  if (!sent) return sent.error();
  constexpr uint64_t kCapacity = 1 << 20;
  auto output = device::Buffer::allocate(device, (kCapacity + 1) * sizeof(uint64_t));
  if (!output) return output.error();
  auto stream = device::Stream::create(device);
  if (!stream) return stream.error();
  auto* const words = static_cast<uint64_t*>(output->data());
  const ScanOutput to = {reinterpret_cast<unsigned long long*>(words), words + 1, kCapacity,
                         nullptr, base_of(scorer)};
  const auto jobs =
      plan.tile_jobs(static_cast<const std::byte*>(sent->data()), part.symbols.data(), to);
  for (auto _ : state) {
    Status done = stream->synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kScansAtOnce && done; ++i) {
      done = stream->fill(words, std::byte{0}, sizeof(uint64_t));
      for (const TileScanJob& job : jobs) {
        if (done) done = enqueue(*stream, job);
      }
    }
    if (done) done = stream->synchronize();
    if (!done) return done;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count() / kScansAtOnce);
  }
  count(state, view);
  return {};
}

Status run_searches(benchmark::State& state, Scorer scorer, device::Device& device) {
  const bench::Data& d = bench::data(static_cast<uint32_t>(state.range(0)));
  const SegmentView view = d.segment.view();
  const auto queries = d.queries(static_cast<size_t>(state.range(2)));
  const std::shared_ptr<const void> owner(&d, [](const void*) {});
  std::vector<device::Device*> devices = {&device};
  if (const char* const wanted = std::getenv("HOIST_MATCH_BENCH_DEVICES"); wanted != nullptr) {
    devices.clear();
    for (device::Device* const found : device::devices()) {
      const bool is_taken = devices.size() < std::strtoull(wanted, nullptr, 10);
      if (is_taken && found->properties().kind == device::DeviceKind::cuda)
        devices.push_back(found);
    }
  }
  GpuScan scan(devices);
  if (!scan.hold(owner, view)) return fail(ErrorCode::exhausted, "the patterns do not fit");
  SearchOptions options;
  options.scorer = scorer;
  options.threshold = threshold_of(state);
  options.top = static_cast<size_t>(state.range(3));
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const auto found = scan.search(owner, view, queries, options);
    if (!found) return found.error();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count());
    state.counters["matches"] = static_cast<double>(found->front().size());
  }
  if (scan.statistics().on_cpu != 0) return fail(ErrorCode::internal, "the CPU searched");
  count(state, view);
  return {};
}

using Run = Status(benchmark::State&, Scorer, device::Device&);

void on_gpu(benchmark::State& state, Run* run, Scorer scorer) {
  const Result<device::Device*> device = device::cuda_device();
  const Status done = device ? run(state, scorer, **device) : Status(device.error());
  if (!done) state.SkipWithError(done.error().message.c_str());
}

const bool registered = [] {
  const auto add = [](const char* name, Run* run, Scorer scorer) {
    return benchmark::RegisterBenchmark(name, on_gpu, run, scorer)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein}) {
    const std::string prefix = "match/gpu/" + std::string(name(scorer));
    auto* const scan = add((prefix + "/scan").c_str(), run_scans, scorer);
    scan->ArgNames({"symbols", "threshold", "states"});
    auto* const search = add((prefix + "/search").c_str(), run_searches, scorer);
    search->ArgNames({"symbols", "threshold", "states", "top"});
    for (const int symbols : {15, 44}) {
      for (const int threshold : {100, 500, 800}) scan->Args({symbols, threshold, 1});
      scan->Args({symbols, 500, 256});
      for (const int top : {0, 100}) search->Args({symbols, 500, 1, top});
      search->Args({symbols, 100, 1, 100})->Args({symbols, 500, 256, 100});
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::match
