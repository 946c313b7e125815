#include "placement/certainty.h"

#include <algorithm>
#include <map>
#include <vector>

#include "placement/robust.h"

namespace hoist::placement {

double least_seconds(double mean, double standard_error) {
  return mean * (1 - std::min(2 * standard_error, 1.0));
}

double uncertainty(const MeasuredVariant& variant) {
  std::map<uint64_t, double> best;  // seconds by size
  for (const MeasuredImplementation& one : variant.implementations) {
    for (const Point& point : one.points) {
      const auto [entry, is_new] = best.try_emplace(point.shape.bytes, point.seconds);
      entry->second = std::min(entry->second, point.seconds);
    }
  }
  std::vector<double> errors;
  for (const MeasuredImplementation& one : variant.implementations) {
    for (const Point& point : one.points) {
      const double error = standard_error(point.noise, point.runs);
      if (least_seconds(point.seconds, error) > kContender * best[point.shape.bytes]) continue;
      errors.push_back(error);
    }
  }
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

double caution(const MeasuredVariant& variant) { return uncertainty(variant) > kBusy ? 2 : 1; }

}  // namespace hoist::placement
