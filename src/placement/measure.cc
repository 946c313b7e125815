#include "placement/measure.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <thread>

#include "placement/certainty.h"
#include "placement/decide.h"
#include "placement/robust.h"

namespace hoist::placement {
namespace {

// A sample repeats what is shorter than this, which the clock and an interrupt would blur.
constexpr double kLeastSample = 300e-6;
constexpr double kMostRepeats = 1e6;

// The share of a variant's time; the rest is for sizes that take long.
constexpr double kForPrecision = 0.4;

// From that size on, what takes so many times as long as the best is not measured any further, if
// so much of it came with the last step in size: what is mostly a fixed cost may yet catch up.
constexpr uint64_t kLarge = uint64_t{64} << 20;
constexpr double kFarBehind = 3;
constexpr double kGrowing = 0.25;

// What is no contender is known well enough after the rounds that all have; the time is for the
// others. What is far behind is after two: a GPU's start would take all the time at small sizes.
constexpr int kFirstRounds = 2;

// Over a run as long as that disturbances average out.
constexpr double kLongRun = 0.25;
constexpr int kRoundsOfLongRuns = 3;

// Where a turn is several runs, one after the other, all of them may be disturbed together.
constexpr int kLeastTurns = 3;

// Waits until the threads of this process rest, but not forever.
void wait_for_rest() {
  constexpr auto kLook =
      std::chrono::milliseconds(12);  // more than a tick, at which time is counted
  constexpr double kResting = 0.2;    // CPUs
  constexpr double kMostSeconds = 0.5;
  const auto busy_seconds = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = steady_seconds();
  for (double look = start; look < start + kMostSeconds; look = steady_seconds()) {
    const double before = busy_seconds();
    std::this_thread::sleep_for(kLook);
    if (busy_seconds() - before < kResting * (steady_seconds() - look)) return;
  }
}

struct Candidate {
  size_t index;
  MeasuredImplementation measured;
  std::string failure;  // empty: none
  int repeats = 1;
  std::vector<double> samples;           // at the present size
  std::vector<double> turns;             // of several samples each: their means
  double seconds_before = 0;             // at the size before; 0: not measured there
  uint64_t hopeless_above = UINT64_MAX;  // bytes

  bool runs() const { return failure.empty() && repeats > 0; }  // at the present size

  // Both at the present size; 0 without samples.
  double seconds() const { return winsorised_mean(samples); }
  double error() const {  // relative
    // So few turns show too little of the scatter.
    const double unseen = turns.empty() ? 0 : 2.0 / static_cast<double>(turns.size());
    return std::max(error_of(samples), (1 + unseen) * error_of(turns));
  }
  static double error_of(const std::vector<double>& values) {
    return standard_error(relative_noise(values), static_cast<int>(values.size()));
  }
  // Whether the size before took clearly less. False: the first size.
  bool is_growing(uint64_t bytes) const {
    const auto at = std::find_if(measured.points.begin(), measured.points.end(),
                                 [&](const Point& point) { return point.shape.bytes == bytes; });
    if (at == measured.points.end() || at == measured.points.begin()) return false;
    return at->seconds - std::prev(at)->seconds >= kGrowing * at->seconds;
  }

  bool is_uncertain(double limit) const { return failure.empty() && error() > limit; }
  bool may_take_less_than(double limit) const { return least_seconds(seconds(), error()) <= limit; }
};

class Measurer {
 public:
  Measurer(const Operation& operation, size_t variant, const MeasurePlan& plan)
      : operation_(operation), variant_(variant), plan_(plan) {
    for (size_t i = 0; i < operation.implementations.size(); ++i) {
      const Implementation& one = operation.implementations[i];
      const std::vector<std::string>& without = operation.variants[variant].without;
      const bool is_there = std::find(without.begin(), without.end(), one.name) == without.end();
      const bool can_run = is_there && (one.threads != 0 || plan.cpus > 1);
      if (can_run && one.residency == Residency::host) {
        candidates_.push_back({i, {one.name, {}}, {}, 1, {}, {}});
        if (one.lingers) turn_ = std::max(plan.rounds, 1);
      }
    }
  }

  Result<Measurement> run() {
    if (candidates_.empty()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{} has no implementation for this machine to measure",
                              operation_.full_name(variant_)));
    }
    double last_cost = 0;
    uint64_t last_size = 0;
    const auto takes_too_long = [&](uint64_t size) {
      // Costs may grow faster than the bytes: a product of matrices takes their power of 1.5.
      const double growth = static_cast<double>(size) / std::max(1.0, 1.0 * last_size);
      const double expected = last_cost * std::clamp(growth_, growth, std::pow(growth, 1.5));
      return sizes_.size() >= 2 && expected > seconds_left();
    };
    for (uint64_t size : plan_.sizes) {
      const bool is_last = takes_too_long(size);
      if (is_last) {
        // There may be time for one on the way there.
        if (size / 2 <= last_size || takes_too_long(2 * last_size)) break;
        size = 2 * last_size;
      }
      const Result<double> cost = measure_size(size);
      if (!cost) {
        if (sizes_.empty() || cost.error().code != ErrorCode::exhausted) {
          return cost.error();
        }
        break;  // no room for larger input
      }
      last_cost = *cost;
      last_size = size;
      if (is_last) break;
    }
    if (const Status status = measure_break_evens(last_size); !status) {
      return status.error();
    }
    return result();
  }

 private:
  double seconds_since(double start) const { return plan_.now() - start; }
  double seconds_left() const { return plan_.seconds - seconds_since(start_); }

  // Seconds that it took but for more rounds and what noise added, and for what will not be
  // measured any further.
  Result<double> measure_size(uint64_t size) {
    if (plan_.cancelled()) return cancelled();
    const double start = plan_.now();
    const double share = kForPrecision * plan_.seconds / static_cast<double>(plan_.sizes.size());
    plan_.at_size(size);
    const Shape shape = {size, operation_.variants[variant_].items_of(size)};
    const Result<Run> prepared = operation_.prepare(variant_, shape, plan_.directory);
    if (!prepared) return prepared.error();
    const double preparation = seconds_since(start);
    bytes_ = size;
    if (const Status status = warm_up(*prepared, shape); !status) {
      return status.error();
    }
    int least = turn_ > 1 ? kLeastTurns : std::max(plan_.rounds, 1);
    double most_seconds = std::numeric_limits<double>::infinity();  // of what is sampled
    for (int round = 0; round < std::max(plan_.most_rounds / turn_, least); ++round) {
      if (round >= std::min(least, kFirstRounds)) {
        most_seconds = (round < least ? kFarBehind : kContender) * best_seconds();
      }
      if (round >= least) {
        const bool again =
            std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& one) {
              return one.runs() && one.may_take_less_than(most_seconds) &&
                     one.is_uncertain(plan_.uncertainty);
            });
        if (!again || seconds_since(start) > share) break;
      }
      if (const Status status = sample(*prepared, most_seconds); !status) {
        return status.error();
      }
      if (best_seconds() > kLongRun) least = std::min(least, kRoundsOfLongRuns);
    }
    for (Candidate& one : candidates_) {
      if (!one.samples.empty()) add_point(one, shape);
    }
    sizes_.push_back(size);
    if (size >= kLarge) leave_out_hopeless(size);
    return preparation + seconds_of_rounds(least);
  }

  // The seconds of what goes on being measured, warming up included; notes by how much it has grown
  // since the size before.
  double seconds_of_rounds(int least) {
    double rounds = 0;
    const double most_seconds = kFarBehind * best_seconds();
    double now = 0;
    double before = 0;
    for (Candidate& one : candidates_) {
      const bool goes_on = !one.samples.empty() && bytes_ < one.hopeless_above;
      const int own = one.seconds() <= most_seconds ? least : std::min(least, kFirstRounds);
      if (goes_on) rounds += one.seconds() * one.repeats * (own * turn_ + 1);
      if (goes_on && one.seconds_before > 0) {
        now += one.seconds();
        before += one.seconds_before;
      }
      one.seconds_before = one.seconds();
    }
    growth_ = before > 0 ? now / before : 1;
    return rounds;
  }

  // At the present size; infinity before the first sample.
  double best_seconds() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& one : candidates_) {
      if (!one.samples.empty()) best = std::min(best, one.seconds());
    }
    return best;
  }

  // What is far behind at a large size will be at larger ones, which take long to measure. What was
  // measured of it goes on growing with the bytes.
  void leave_out_hopeless(uint64_t size) {
    const double best = best_seconds();
    for (Candidate& one : candidates_) {
      if (one.samples.empty() || one.seconds() <= kFarBehind * best || !one.is_growing(size)) {
        continue;
      }
      one.hopeless_above = std::min(one.hopeless_above, size);
    }
  }

  // Runs each once and finds how often a sample must repeat it.
  Status warm_up(const Run& run, const Shape& shape) {
    for (Candidate& one : candidates_) {
      one.samples.clear();
      one.turns.clear();
      const auto& supports = operation_.implementations[one.index].supports;
      one.repeats = (supports && !supports(shape)) || shape.bytes > one.hopeless_above ? 0 : 1;
      const Result<double> seconds = time(one, run);
      if (!seconds) return seconds.error();
      if (one.repeats > 0 && *seconds < kLeastSample) {
        one.repeats = static_cast<int>(
            std::min(kMostRepeats, std::ceil(kLeastSample / std::max(*seconds, 1e-9))));
      }
    }
    return {};
  }

  // A turn each of those that may take no longer than `most_seconds`, as far as is known.
  Status sample(const Run& run, double most_seconds) {
    for (Candidate& one : candidates_) {
      if (!one.runs() || !one.may_take_less_than(most_seconds)) continue;
      if (plan_.cancelled()) return cancelled();
      if (lingering_ != nullptr && lingering_ != &one) wait_for_rest();
      const size_t before = one.samples.size();
      for (int i = 0; i < turn_; ++i) {
        const Result<double> seconds = time(one, run);
        if (!seconds) return seconds.error();
        if (one.runs()) one.samples.push_back(*seconds);
      }
      if (turn_ > 1 && one.samples.size() > before) {
        one.turns.push_back(winsorised_mean(std::span(one.samples).subspan(before)));
      }
      lingering_ = operation_.implementations[one.index].lingers ? &one : nullptr;
    }
    return {};
  }

  // Seconds of one run; 0 where the implementation is left out. Fails for the plain one only.
  Result<double> time(Candidate& one, const Run& run) {
    if (!one.runs()) return 0;
    if (plan_.cancelled()) return cancelled();
    const double start = plan_.now();
    for (int i = 0; i < one.repeats; ++i) {
      const Status status = run(one.index);
      if (status) continue;
      if (plan_.cancelled()) return cancelled();
      if (&one == &candidates_.front()) return status.error();
      one.samples.clear();
      one.turns.clear();
      if (status.error().code == ErrorCode::exhausted && !one.measured.points.empty()) {
        one.hopeless_above = bytes_ - 1;  // no room for so much; what was measured of less counts
        one.repeats = 0;
      } else {
        one.failure = status.error().message;
      }
      return 0;
    }
    return seconds_since(start) / one.repeats;
  }

  static Error cancelled() {
    return fail(ErrorCode::cancelled,
                "the measurement was ended (interrupt): the profile is as "
                "it was");
  }

  static void add_point(Candidate& one, const Shape& shape) {
    std::vector<Point>& points = one.measured.points;
    const auto at = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return point.shape.bytes > shape.bytes;
    });
    const auto runs = static_cast<int>(one.samples.size());
    points.insert(at, {shape, one.seconds(), one.error() * std::sqrt(runs), runs, 1});
  }

  // Interpolation errors matter where two curves cross, so a crossing far from all measured sizes
  // gets a measurement of its own.
  Status measure_break_evens(uint64_t largest) {
    if (Status status = measure_break_evens(largest, false); !status) return status;
    const bool is_apart =
        std::any_of(candidates_.begin(), candidates_.end(), [](const Candidate& one) {
          return needs_hoistd(one.measured.name) && one.failure.empty();
        });
    return is_apart ? measure_break_evens(largest, true) : Status();
  }
  Status measure_break_evens(uint64_t largest, bool with_hoistd) {
    constexpr int kMost = 4;
    constexpr double kFar = 1.15;
    for (int extra = 0; extra < kMost && seconds_left() > 0; ++extra) {
      const Model model(result().variant, &operation_, plan_.cpus, with_hoistd);
      const Row row = decide_row(model, plan_.cpus, nullptr);
      const auto found =
          std::find_if(row.intervals.begin(), row.intervals.end(), [&](const Interval& interval) {
            return interval.from > 0 && interval.from < largest && is_far(interval.from, kFar);
          });
      if (found == row.intervals.end()) return {};
      const Result<double> cost = measure_size(found->from);
      if (!cost && cost.error().code == ErrorCode::exhausted) return {};
      if (!cost) return cost.error();
    }
    return {};
  }

  bool is_far(uint64_t size, double factor) const {
    return std::none_of(sizes_.begin(), sizes_.end(), [&](uint64_t measured) {
      const double ratio = static_cast<double>(size) / std::max(1.0, 1.0 * measured);
      return ratio < factor && ratio > 1 / factor;
    });
  }

  Measurement result() const {
    Measurement measurement;
    measurement.variant.name = operation_.full_name(variant_);
    std::map<std::string, std::vector<std::string>> failed;  // names by what was the matter
    for (const Candidate& one : candidates_) {
      if (!one.failure.empty()) {
        failed[one.failure].push_back(one.measured.name);
      } else if (!one.measured.points.empty()) {
        measurement.variant.implementations.push_back(one.measured);
      }
    }
    for (const auto& [failure, names] : failed) {
      measurement.left_out.push_back(fmt::format("{}: {}", fmt::join(names, ", "), failure));
    }
    return measurement;
  }

  const Operation& operation_;
  const size_t variant_;
  const MeasurePlan& plan_;
  const double start_ = plan_.now();
  std::vector<Candidate> candidates_;
  std::vector<uint64_t> sizes_;           // measured
  uint64_t bytes_ = 0;                    // the present size
  double growth_ = 1;                     // of a run's seconds since the size before
  int turn_ = 1;                          // runs of an implementation in turn
  const Candidate* lingering_ = nullptr;  // whose threads may not rest yet
};

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<uint64_t> log_spaced(uint64_t least, uint64_t most, double step) {
  std::vector<uint64_t> sizes;
  for (double size = static_cast<double>(least); size <= static_cast<double>(most) * 1.0001;
       size *= step) {
    sizes.push_back(static_cast<uint64_t>(std::llround(size)));
  }
  return sizes;
}

Result<Measurement> measure(const Operation& operation, size_t variant, const MeasurePlan& plan) {
  return Measurer(operation, variant, plan).run();
}

}  // namespace hoist::placement
