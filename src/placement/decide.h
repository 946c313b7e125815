// From measured costs to decisions: for each number of CPUs the sizes at which another
// implementation becomes the best one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/cost_curve.h"
#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::placement {

// Predicted seconds of the implementations of one variant.
class Model {
 public:
  // `operation` tells which shapes an implementation supports and whether it uses all CPUs. Null:
  // the operation is not known here; then "cpu-all" alone does, and everything is supported.
  // `with_hoistd`: what needs one (needs_hoistd()) is among them.
  Model(const MeasuredVariant& variant, const Operation* operation, int measured_cpus,
        bool with_hoistd = false);

  size_t size() const { return implementations_.size(); }
  const std::string& name(size_t implementation) const {
    return implementations_[implementation].name;
  }
  // Infinity where the implementation is not used: the shape is not supported, it would spread its
  // work over more CPUs than there are, or it was not measured at so small a size. The plain one,
  // the first, is always used. Beyond the largest size costs go on as they were.
  double seconds(size_t implementation, uint64_t bytes, double cpus) const;
  // The largest size that was measured.
  uint64_t largest() const { return largest_; }
  // Relative standard error of those seconds.
  double uncertainty(size_t implementation, uint64_t bytes) const {
    return implementations_[implementation].curve.uncertainty(bytes);
  }
  // In standard errors: Implementation::lead, and caution() where the measurement is uncertain.
  double lead(size_t implementation) const { return implementations_[implementation].lead; }

 private:
  struct Entry {
    std::string name;
    CostCurve curve;
    bool uses_all_cpus;
    std::function<bool(const Shape&)> supports;
    uint64_t items;
    double lead;
  };
  std::vector<Entry> implementations_;
  const CostCurve* one_cpu_ = nullptr;  // of what "all CPUs" would take on one
  int measured_cpus_;
  uint64_t largest_ = 0;
};

// Choices change only for a gain. Going up in size, what is chosen stays until something is more
// than kStay better; and what was decided before stays until something is more than kHysteresis
// better, so that noise between two measurements changes nothing. The promise is that a choice
// costs at most 3 % more than the best; what these leave of it is for the errors of the model.
// Where the measurements themselves are less certain than that, taken on a loaded machine, a
// change must be better by more than their standard error, or as many as Model::lead() says.
// Beyond the largest measured size the last choice holds.
inline constexpr double kStay = 0.01;
inline constexpr double kHysteresis = 0.02;

struct Cost {
  double seconds = 0;
  double uncertainty = 0;  // relative standard error of that
};
// Whether `other` is ahead of `current` by more than `margin` and by more than `lead` standard
// errors.
bool is_ahead(const Cost& other, const Cost& current, double margin, double lead);

// `previous` is the row decided earlier for these CPUs, or null.
Row decide_row(const Model& model, int cpus, const Row* previous);

// Makes the rows of all variants anew: for one CPU, for each power of two up to the measured
// number, and for that number; where something needs a hoistd, with one as well. Earlier rows,
// those of `previous` (null: none), count for the hysteresis. `registry` knows the operations.
void decide(Profile& profile, const Profile* previous, const Registry& registry);

// The same decisions for whole programs as the text of the file `decisions` (takeover/decisions.h).
std::string decisions_text(const Profile& profile);

}  // namespace hoist::placement
