#include "px/place/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"
#include "placement/profile_file.h"
#include "px/place/operation.h"

namespace hoist::px {
namespace {

using placement::MeasuredImplementation;

// One variant's costs on both.
struct Both {
  placement::CostCurve cpu;
  placement::CostCurve gpu;
};

Result<Both> find(const placement::Profile& profile, const char* variant) {
  const std::string name = fmt::format("px/{}", variant);
  const auto* const measured = profile.find(name, placement::Residency::host);
  const MeasuredImplementation* const cpu = measured ? measured->find("cpu-all") : nullptr;
  const MeasuredImplementation* const gpu = measured ? measured->find("cuda") : nullptr;
  if (!cpu || !gpu || cpu->points.empty() || gpu->points.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("the profile has no {} with a GPU: run `hoist tune --op px`", name));
  }
  return Both{placement::CostCurve(cpu->points), placement::CostCurve(gpu->points)};
}

// Bytes of the measured kernels' arrays that are as much work.
uint64_t stream_bytes(uint64_t moved) {
  return static_cast<uint64_t>(static_cast<double>(moved) / kStreamTraffic);
}
uint64_t compute_bytes(double operations) {
  return static_cast<uint64_t>(std::min(operations / kOperationsOfByte, 1e18));
}

std::string text_of(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace

Result<Rates> Rates::make(const placement::Profile& profile, int cpus) {
  const Result<Both> stream = find(profile, kStream);
  if (!stream) return stream.error();
  const Result<Both> compute = find(profile, kCompute);
  if (!compute) return compute.error();
  const Result<Both> start = find(profile, kStart);
  if (!start) return start.error();
  const double scale = std::max(1.0, static_cast<double>(profile.machine.cpus) / std::max(cpus, 1));
  return Rates(stream->cpu, compute->cpu, stream->gpu, compute->gpu,
               std::max(0.0, start->gpu.fixed() - start->cpu.fixed()), scale);
}

const Result<Rates>& Rates::process() {
  static const Result<Rates>* const rates = new Result<Rates>([]() -> Result<Rates> {
    const placement::LoadedProfile& loaded = placement::process_profile();
    if (loaded.profile()) return make(*loaded.profile(), usable_cpus());
    return fail(ErrorCode::not_found, loaded.why);
  }());
  return *rates;
}

double Rates::cpu_seconds(const Work& work) const {
  const double operations = work.operations + (kLanes - 1) * work.scalar_operations;
  return cpu_scale_ * std::max(cpu_stream_.seconds(stream_bytes(work.bytes())),
                               cpu_compute_.seconds(compute_bytes(operations)));
}

double Rates::copy_seconds(uint64_t bytes) const {
  return gpu_stream_.seconds(stream_bytes(bytes));
}

double Rates::gpu_seconds(const Work& work) const {
  return gpu_compute_.seconds(compute_bytes(work.operations));
}

PlaceEstimate Rates::compare(double cpu_seconds, double gpu_seconds) const {
  return {.on_gpu = kAhead * (gpu_start_ + gpu_seconds) < cpu_seconds,
          .cpu_seconds = cpu_seconds,
          .gpu_seconds = gpu_seconds,
          .gpu_start_seconds = gpu_start_};
}

std::string describe(const PlaceEstimate& estimate, const Work& work) {
  const double gpu = estimate.gpu_seconds + estimate.gpu_start_seconds;
  return fmt::format(
      "{}: {} on the CPU, {} on a GPU ({} of them its start), estimated from {}{:.3g} "
      "operations and {:.3g} MB",
      estimate.on_gpu ? "a GPU" : "the CPU", text_of(estimate.cpu_seconds), text_of(gpu),
      text_of(estimate.gpu_start_seconds), work.is_whole ? "" : "at least ", work.operations,
      static_cast<double>(work.bytes()) / 1e6);
}

}  // namespace hoist::px
