#include "ops/gemm/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/per_process.h"
#include "base/threads.h"
#include "ops/gemm/plan.h"
#include "placement/certainty.h"
#include "placement/decide.h"
#include "placement/profile_file.h"

namespace hoist::gemm {
namespace {

constexpr const char* kTypes = "sdcz";
constexpr int kMostDevices = 64;
constexpr int kTransferThreads = 8;  // TransferTuning::threads

uint64_t bytes_of_square(const hoist_blas_call& call) {
  return square_bytes(call.type, square_extent(call));
}

// What was measured with so many CPUs, for fewer of them.
double times_longer(int measured, int cpus) {
  return std::max(1.0, static_cast<double>(measured) / std::max(cpus, 1));
}

// The estimates from the profile as this process finds it.
struct Estimates {
  Estimates() {
    const placement::LoadedProfile loaded = placement::load_profile();
    const placement::Profile* const profile = loaded.profile();
    if (profile == nullptr) return;
    const int cpus = process_cpus();
    for (size_t at = 0; at < of_type.size(); ++at)
      of_type[at] = Estimate::make(*profile, kTypes[at], cpus);
  }
  std::array<std::optional<Estimate>, 4> of_type;
};

}  // namespace

std::string implementation_name(int devices) {
  return devices > 1 ? "cuda-" + std::to_string(devices) : "cuda";
}

double lead_of(int devices) { return devices > 1 ? 2 : 1; }

std::string variant_name(char type) { return std::string("gemm/") + type; }

double square_extent(const hoist_blas_call& call) {
  const double complex = call.type == 'c' || call.type == 'z' ? 4 : 1;
  return std::cbrt(operation_count(call) / 2 / complex);
}

uint64_t square_bytes(char type, double extent) {
  return static_cast<uint64_t>(3 * extent * extent * static_cast<double>(element_size(type)));
}

std::optional<Estimate> Estimate::make(const placement::Profile& profile, char type, int cpus) {
  const auto* const variant = profile.find(variant_name(type), placement::Residency::host);
  if (variant == nullptr) return std::nullopt;
  const auto* const original = variant->find("original");
  if (original == nullptr || original->points.empty()) return std::nullopt;
  std::map<int, placement::CostCurve> gpus;
  for (int devices = 1; devices <= kMostDevices; devices *= 2) {
    const auto* const gpu = variant->find(implementation_name(devices));
    if (gpu != nullptr && !gpu->points.empty()) {
      gpus.emplace(devices, placement::CostCurve(gpu->points, kGrowth));
    }
  }
  if (!gpus.contains(1)) return std::nullopt;
  const int measured = profile.machine.cpus;
  return Estimate(placement::CostCurve(original->points, kGrowth), std::move(gpus),
                  placement::caution(*variant), times_longer(measured, cpus),
                  times_longer(std::min(measured, kTransferThreads), cpus));
}

const Estimate* Estimate::of(char type) {
  static constinit PerProcess<Estimates> estimates;
  const char* const found = std::strchr(kTypes, type);
  if (type == '\0' || found == nullptr) return nullptr;
  const std::optional<Estimate>& estimate =
      estimates.get().of_type[static_cast<size_t>(found - kTypes)];
  return estimate ? &*estimate : nullptr;
}

double Estimate::original_seconds(const hoist_blas_call& call) const {
  return original_.seconds(bytes_of_square(call)) * original_scale_;
}

double Estimate::gpu_seconds(const hoist_blas_call& call, int devices) const {
  const auto gpu = gpus_.find(devices);
  if (gpu == gpus_.end()) return std::numeric_limits<double>::infinity();
  const uint64_t square = bytes_of_square(call);
  // Smaller than what was measured is not for a GPU: what came before it is always right there.
  if (square < gpu->second.first()) return std::numeric_limits<double>::infinity();
  const double ratio = static_cast<double>(transfer_bytes(call)) /
                       static_cast<double>(std::max<uint64_t>(square, 1));
  return gpu->second.seconds(square) * std::max(ratio, 1.0) * gpu_scale_;
}

double Estimate::won_seconds(const hoist_blas_call& call, int devices) const {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [count, curve] : gpus_) {
    if (count <= devices) best = std::min(best, gpu_seconds(call, count));
  }
  return original_seconds(call) - best;
}

int Estimate::devices(const hoist_blas_call& call, int most) const {
  const uint64_t bytes = bytes_of_square(call);
  int best = 0;
  placement::Cost cost = {original_seconds(call), original_.uncertainty(bytes)};
  for (const auto& [devices, curve] : gpus_) {
    if (devices > most) break;
    const placement::Cost other = {gpu_seconds(call, devices), curve.uncertainty(bytes)};
    const double lead = caution_ * lead_of(devices);
    if (!placement::is_ahead(other, cost, placement::kStay, lead)) continue;
    best = devices;
    cost = other;
  }
  return best;
}

}  // namespace hoist::gemm
