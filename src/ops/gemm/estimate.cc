#include "ops/gemm/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "ops/gemm/plan.h"
#include "placement/decide.h"
#include "placement/profile_file.h"

namespace hoist::gemm {
namespace {

constexpr const char* kTypes = "sdcz";

uint64_t bytes_of_square(const hoist_blas_call& call) {
  return square_bytes(call.type, square_extent(call));
}

}  // namespace

std::string variant_name(char type) { return std::string("gemm/") + type; }

double square_extent(const hoist_blas_call& call) {
  const double complex = call.type == 'c' || call.type == 'z' ? 4 : 1;
  return std::cbrt(operation_count(call) / 2 / complex);
}

uint64_t square_bytes(char type, double extent) {
  return static_cast<uint64_t>(3 * extent * extent * static_cast<double>(element_size(type)));
}

std::optional<Estimate> Estimate::make(const placement::Profile& profile, char type) {
  const auto* const variant = profile.find(variant_name(type), placement::Residency::host);
  if (variant == nullptr) return std::nullopt;
  const auto* const original = variant->find("original");
  const auto* const gpu = variant->find("cuda");
  if (original == nullptr || gpu == nullptr) return std::nullopt;
  if (original->points.empty() || gpu->points.empty()) return std::nullopt;
  return Estimate(placement::CostCurve(original->points), placement::CostCurve(gpu->points));
}

const Estimate* Estimate::of(char type) {
  static const auto* const estimates = [] {
    auto* const made = new std::array<std::optional<Estimate>, 4>;  // for static destructors
    if (const placement::Profile* const profile = placement::process_profile().profile()) {
      for (size_t at = 0; at < made->size(); ++at) (*made)[at] = make(*profile, kTypes[at]);
    }
    return made;
  }();
  const char* const found = std::strchr(kTypes, type);
  if (type == '\0' || found == nullptr) return nullptr;
  const std::optional<Estimate>& estimate = (*estimates)[static_cast<size_t>(found - kTypes)];
  return estimate ? &*estimate : nullptr;
}

double Estimate::original_seconds(const hoist_blas_call& call) const {
  return original_.seconds(bytes_of_square(call));
}

double Estimate::gpu_seconds(const hoist_blas_call& call) const {
  const uint64_t square = bytes_of_square(call);
  const double ratio = static_cast<double>(transfer_bytes(call)) /
                       static_cast<double>(std::max<uint64_t>(square, 1));
  return gpu_.seconds(square) * std::max(ratio, 1.0);
}

bool Estimate::prefers_gpu(const hoist_blas_call& call) const {
  // Smaller than what was measured stays with the original, which is always right there.
  if (bytes_of_square(call) < gpu_.first()) return false;
  return gpu_seconds(call) * (1 + placement::kStay) < original_seconds(call);
}

}  // namespace hoist::gemm
