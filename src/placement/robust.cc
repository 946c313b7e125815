#include "placement/robust.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hoist::placement {
namespace {

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

}  // namespace

double winsorised_mean(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 10];
  const double high = sorted[sorted.size() / 2];
  double sum = 0;
  for (const double sample : sorted) sum += std::clamp(sample, low, high);
  return sum / static_cast<double>(sorted.size());
}

double relative_noise(std::span<const double> samples) {
  if (samples.size() < 2) return 0;
  const double centre = median({samples.begin(), samples.end()});
  std::vector<double> distances;
  for (const double sample : samples) {
    if (sample <= centre) distances.push_back(centre - sample);
  }
  return centre > 0 ? 1.4826 * median(std::move(distances)) / centre : 0;
}

double standard_error(double noise, int runs) { return noise / std::sqrt(std::max(runs, 1)); }

}  // namespace hoist::placement
