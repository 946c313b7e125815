#include "placement/cost_curve.h"

#include <algorithm>
#include <cmath>

#include "placement/robust.h"

namespace hoist::placement {
namespace {

// Pool adjacent violators (Ayer et al., Annals of Mathematical Statistics 1955), on logarithms
// because noise is relative: the nearest non-decreasing sequence. Points weigh by how certain they
// are, in seconds: what disturbs a measurement makes it longer, and a point that was disturbed does
// not lift those above it. (One that came out too short would pull those below it down.)
std::vector<double> make_monotone(const std::vector<Point>& points) {
  constexpr double kLeastError = 0.01;  // no point is so certain that others do not count
  struct Pool {
    double log_sum;  // weighted
    double weight;
    size_t count;
    double mean() const { return log_sum / weight; }
  };
  std::vector<Pool> pools;
  for (const Point& point : points) {
    const double seconds = point.seconds * point.factor;
    const double error = seconds * std::hypot(standard_error(point.noise, point.runs), kLeastError);
    const double weight = 1 / (error * error);
    pools.push_back({weight * std::log(seconds), weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().log_sum += last.log_sum;
      pools.back().weight += last.weight;
      pools.back().count += last.count;
    }
  }
  std::vector<double> seconds;
  for (const Pool& pool : pools) seconds.insert(seconds.end(), pool.count, std::exp(pool.mean()));
  return seconds;
}

}  // namespace

CostCurve::CostCurve(const std::vector<Point>& points, double growth)
    : first_(points.front().shape.bytes), last_(points.back().shape.bytes), growth_(growth) {
  const std::vector<double> seconds = make_monotone(points);
  for (size_t i = 0; i < points.size(); ++i) {
    knots_.push_back({static_cast<double>(points[i].shape.bytes), seconds[i],
                      standard_error(points[i].noise, points[i].runs)});
  }
  const Knot& last = knots_.back();
  fixed_ = find_fixed();
  // Over a factor of two or more, where there is one, so that noise in the last knot weighs little.
  const auto half = std::find_if(knots_.rbegin(), knots_.rend(),
                                 [&](const Knot& knot) { return knot.bytes <= last.bytes / 2; });
  if (half != knots_.rend() && half->bytes < last.bytes)
    slope_ = (last.seconds - half->seconds) / (last.bytes - half->bytes);
  if (slope_ <= 0 && last.bytes > 0) slope_ = last.seconds / last.bytes;
}

// The seconds at no bytes for which a + b·x^c goes through the first knot and the next two that lie
// measurably above one another; with only one such, for which a + b·x does.
double CostCurve::find_fixed() const {
  const Knot& first = knots_.front();
  const auto next_above = [&](const Knot& below) {
    return std::find_if(knots_.begin(), knots_.end(),
                        [&](const Knot& knot) { return knot.seconds > 1.05 * below.seconds; });
  };
  const auto second = next_above(first);
  if (second == knots_.end() || first.bytes <= 0) return first.seconds;
  const auto third = next_above(*second);
  if (third == knots_.end()) {
    const double slope = (second->seconds - first.seconds) / (second->bytes - first.bytes);
    return std::max(0.0, first.seconds - slope * first.bytes);
  }
  // The exponent between two knots once `fixed` is taken off; equal ones are looked for. The lower
  // one grows without bound as `fixed` approaches the first knot.
  const auto exponent = [](const Knot& low, const Knot& high, double fixed) {
    return std::log((high.seconds - fixed) / (low.seconds - fixed)) /
           std::log(high.bytes / low.bytes);
  };
  double low = 0;
  double high = first.seconds;
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    const bool too_high = exponent(first, *second, middle) > exponent(*second, *third, middle);
    (too_high ? high : low) = middle;
  }
  return low;
}

// Never quite 0, for its logarithm.
double CostCurve::above_fixed(const Knot& knot) const {
  return std::max(knot.seconds - fixed_, 1e-3 * knot.seconds);
}

double CostCurve::seconds(uint64_t bytes) const {
  const auto x = static_cast<double>(bytes);
  const Knot& first = knots_.front();
  const Knot& last = knots_.back();
  if (x >= last.bytes && growth_ > 1 && last.bytes > 0) {
    return last.seconds * std::pow(x / last.bytes, growth_);
  }
  if (x >= last.bytes) return last.seconds + slope_ * (x - last.bytes);
  if (first.bytes <= 0 && x <= 0) return first.seconds;
  if (x <= first.bytes) return fixed_ + (first.seconds - fixed_) * (x / first.bytes);
  const auto above = std::upper_bound(knots_.begin(), knots_.end(), x,
                                      [](double at, const Knot& knot) { return at < knot.bytes; });
  const Knot& low = *(above - 1);
  const Knot& high = *above;
  if (low.bytes <= 0) {  // no logarithm
    return low.seconds + (high.seconds - low.seconds) * (x / high.bytes);
  }
  const double share = std::log(x / low.bytes) / std::log(high.bytes / low.bytes);
  const double work =
      std::exp((1 - share) * std::log(above_fixed(low)) + share * std::log(above_fixed(high)));
  // Where a knot's work was raised to its floor, the sum could leave the knots' range.
  return std::clamp(fixed_ + work, low.seconds, high.seconds);
}

// Between two knots the logarithm of the time is their weighted mean.
double CostCurve::uncertainty(uint64_t bytes) const {
  const auto x = static_cast<double>(bytes);
  const auto above = std::upper_bound(knots_.begin(), knots_.end(), x,
                                      [](double at, const Knot& knot) { return at < knot.bytes; });
  if (above == knots_.end()) return knots_.back().uncertainty;
  if (above == knots_.begin()) return above->uncertainty;
  const Knot& low = *(above - 1);
  if (low.bytes <= 0) return std::max(low.uncertainty, above->uncertainty);  // no logarithm
  const double share = std::log(x / low.bytes) / std::log(above->bytes / low.bytes);
  return std::hypot((1 - share) * low.uncertainty, share * above->uncertainty);
}

double with_cpus(double one, double all, int measured, double cpus) {
  if (measured <= 1 || all >= one || cpus >= measured) return all;
  const double n = std::max(cpus, 1.0);
  const double full = 1 - 1.0 / measured;
  return all + (one - all) * (1 / n - 1.0 / measured) / full;
}

}  // namespace hoist::placement
