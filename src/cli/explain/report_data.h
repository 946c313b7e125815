// What `hoist explain` says about a variant, before it is text, JSON or a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/decision_table.h"
#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::cli {

// What one implementation is predicted to take.
struct Prediction {
  std::string implementation;
  double seconds = 0;      // infinity: it is not used at this size, or with these CPUs
  double uncertainty = 0;  // relative standard error of that
  double lead = 1;         // placement::Model::lead()
};

struct SizeReport {
  uint64_t bytes = 0;
  std::vector<Prediction> predictions;  // none where nothing is measured
  std::string chosen;
  std::string reason;
  bool extrapolated = false;  // smaller or larger than all that was measured
};

struct Curve {
  std::string implementation;
  std::vector<placement::Point> points;
};

struct VariantReport {
  std::string name;
  std::string note;  // Operation::note
  bool measured = false;
  int cpus = 1;                              // assumed free
  double uncertainty = 0;                    // placement::uncertainty() of what was measured
  std::vector<placement::Interval> choices;  // ascending from 0
  // The same while a hoistd answers; empty: that makes no difference.
  std::vector<placement::Interval> choices_with_hoistd;
  bool with_hoistd = false;  // whether `sizes` are judged so
  std::vector<SizeReport> sizes;
  std::vector<Curve> curves;
};

// `profile` may be null: then the compiled-in defaults are reported. `with_hoistd`: one answers.
VariantReport report_on(const placement::VariantHandle& variant, const placement::Profile* profile,
                        int cpus, bool with_hoistd, const std::vector<uint64_t>& sizes);

}  // namespace hoist::cli
