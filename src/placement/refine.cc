#include "placement/refine.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/own_file.h"
#include "placement/cost_curve.h"
#include "placement/decide.h"
#include "placement/profile_file.h"
#include "placement/profile_paths.h"
#include "placement/robust.h"
#include "takeover/decisions.h"

namespace hoist::placement {
namespace {

constexpr double kOutlier = 2;  // times the prediction, or its inverse

MeasuredImplementation* find_measured(Profile& profile, const Timing& timing) {
  for (MeasuredVariant& variant : profile.variants) {
    if (variant.name != timing.variant || variant.residency != Residency::host) continue;
    for (MeasuredImplementation& one : variant.implementations) {
      if (one.name == timing.implementation) return &one;
    }
  }
  return nullptr;
}

bool is_whole_program(const Profile& profile, const Timing& timing) {
  const MeasuredVariant* variant = profile.find(timing.variant, Residency::host);
  return variant != nullptr && variant->find("original") != nullptr;
}

// The indices [first, last) of the points that a timing of `bytes` tells about: the one of that
// size, else those on both sides, since the prediction is made from both and moving one alone would
// move it twice as far as the timing asks. Points further than a factor of four away are left out.
std::pair<size_t, size_t> points_beside(const MeasuredImplementation& measured, uint64_t bytes) {
  const std::vector<Point>& points = measured.points;
  const auto is_near = [&](const Point& point) {
    const double ratio =
        (1.0 + static_cast<double>(bytes)) / (1.0 + static_cast<double>(point.shape.bytes));
    return ratio <= 4 && ratio >= 0.25;
  };
  auto last =
      std::lower_bound(points.begin(), points.end(), bytes,
                       [](const Point& point, uint64_t size) { return point.shape.bytes < size; });
  const bool is_measured = last != points.end() && last->shape.bytes == bytes;
  auto first = last != points.begin() && !is_measured ? last - 1 : last;
  if (last != points.end()) ++last;
  while (first != last && !is_near(*first)) ++first;
  while (first != last && !is_near(*(last - 1))) --last;
  return {static_cast<size_t>(first - points.begin()), static_cast<size_t>(last - points.begin())};
}

// How many times the prediction it took; 0: it tells nothing.
double ratio_of(const Timing& timing, const CostCurve& curve, bool is_program) {
  const double predicted = curve.seconds(timing.shape.bytes);
  double seconds = timing.seconds;
  if (is_program) {
    constexpr double kStartShare = 0.1;
    if (curve.fixed() > kStartShare * predicted) return 0;
    seconds += curve.fixed();
  }
  const double ratio = seconds / predicted;
  return ratio < kOutlier && ratio > 1 / kOutlier ? ratio : 0;
}

bool move_point(Point& point, const std::vector<double>& ratios) {
  if (ratios.size() < kEnoughTimings) return false;
  const double step = std::clamp(winsorised_mean(ratios), 1 / kMostStep, kMostStep);
  const double factor = std::clamp(point.factor * step, 1 / kMostFactor, kMostFactor);
  return std::exchange(point.factor, factor) != factor;
}

}  // namespace

size_t fold_timings(Profile& profile, std::span<const Timing> timings, uint64_t key) {
  std::map<MeasuredImplementation*, std::map<size_t, std::vector<double>>> ratios;
  std::map<MeasuredImplementation*, CostCurve> curves;  // as before any point moves
  for (const Timing& timing : timings) {
    if (timing.key != key || timing.cpus != profile.machine.cpus) continue;
    MeasuredImplementation* measured = find_measured(profile, timing);
    if (measured == nullptr) continue;
    const auto [first, last] = points_beside(*measured, timing.shape.bytes);
    const CostCurve& curve = curves.try_emplace(measured, measured->points).first->second;
    const double ratio = ratio_of(timing, curve, is_whole_program(profile, timing));
    for (size_t point = first; ratio > 0 && point < last; ++point) {
      ratios[measured][point].push_back(ratio);
    }
  }
  size_t moved = 0;
  for (const auto& [measured, by_point] : ratios) {
    for (const auto& [point, list] : by_point) moved += move_point(measured->points[point], list);
  }
  return moved;
}

Result<bool> refine_profile(const Registry& registry, size_t enough) {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return paths.error();
  if (::access(paths->timings.c_str(), F_OK) != 0) return false;  // the usual case: no lock is made
  const Result<UniqueFd> lock = lock_profile();
  if (!lock) return lock.error();
  Result<Profile> profile = read_profile();
  if (!profile) return profile.error();
  // Another machine's, or an older version's: writing it would put this machine's key on its
  // decisions.
  if (!this_machine().is_served_by(profile->machine)) return false;
  const Result<std::string> bytes = read_own_file(paths->timings, kTimingsLimit);
  if (!bytes || bytes->size() < enough * kTimingSize) return false;
  // Under HOIST_PROFILE it may be somebody else's, which is not removed.
  if (paths->directory.empty() && !begins_with_timing(*bytes)) return false;
  // Removed first: timings that two processes folded would count twice.
  ::unlink(paths->timings.c_str());
  const Profile before = *profile;
  if (fold_timings(*profile, decode_timings(*bytes), hoist_machine_key()) == 0) return false;
  decide(*profile, &before, registry);
  const Status status = write_profile(*profile);
  if (!status) return status.error();
  return true;
}

}  // namespace hoist::placement
