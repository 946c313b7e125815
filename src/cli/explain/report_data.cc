#include "cli/explain/report_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "placement/certainty.h"
#include "placement/decide.h"

namespace hoist::cli {
namespace {

using placement::Basis;
using placement::Choice;
using placement::DecisionTable;
using placement::Interval;
using placement::MeasuredVariant;
using placement::Model;
using placement::Residency;

// The best of what was not chosen; null: there is none.
const Prediction* best_other(const std::vector<Prediction>& predictions,
                             const std::string& chosen) {
  const Prediction* best = nullptr;
  for (const Prediction& one : predictions) {
    if (one.implementation == chosen || !std::isfinite(one.seconds)) continue;
    if (best == nullptr || one.seconds < best->seconds) best = &one;
  }
  return best;
}

// How much faster than the original program the choice is, which is what a user compares with;
// empty where the original is the choice or `other`, or was not measured.
std::string lead_over_original(const std::vector<Prediction>& predictions, const Prediction& own,
                               const Prediction& other) {
  constexpr const char* kOriginal = "original";
  const auto original = std::find_if(predictions.begin(), predictions.end(), [](const auto& one) {
    return one.implementation == kOriginal && std::isfinite(one.seconds);
  });
  if (original == predictions.end() || own.implementation == kOriginal ||
      other.implementation == kOriginal) {
    return {};
  }
  return fmt::format("{:.2f}x as fast as the original, ", original->seconds / own.seconds);
}

// `is_beyond`: no size as large was measured.
std::string reason_for(const std::vector<Prediction>& predictions, const std::string& chosen,
                       Basis basis, bool is_beyond, int cpus) {
  if (basis == Basis::compiled_in) return "compiled-in default: nothing is measured";
  const auto own = std::find_if(predictions.begin(), predictions.end(),
                                [&](const auto& one) { return one.implementation == chosen; });
  const Prediction* other = best_other(predictions, chosen);
  if (own == predictions.end() || other == nullptr) return "nothing else may run";
  const double gain = other->seconds / own->seconds;
  if (gain >= 1) {
    return fmt::format("{}{:.2f}x as fast as {} with {} CPU{}",
                       lead_over_original(predictions, *own, *other), gain,
                       other->implementation == "original" ? "the original" : other->implementation,
                       cpus, cpus == 1 ? "" : "s");
  }
  const double percent = 100 * (1 / gain - 1);
  const double doubt = 100 * other->lead * std::hypot(own->uncertainty, other->uncertainty);
  if (is_beyond) {
    return fmt::format("{} may gain {:.1f} %, but nothing so large was measured",
                       other->implementation, percent);
  }
  if (percent < doubt) {
    return fmt::format("{} may gain {:.1f} %, but the times are uncertain (±{:.1f} %)",
                       other->implementation, percent, doubt);
  }
  return fmt::format("{} would gain {:.1f} %, too little for a change", other->implementation,
                     percent);
}

std::vector<Interval> break_evens(const placement::VariantHandle& variant,
                                  const DecisionTable& table) {
  std::vector<Interval> list;
  for (const Choice& choice : table.choices()) {
    list.push_back({choice.from, variant.operation().implementations[choice.implementation].name});
  }
  return list;
}

uint64_t smallest_measured(const std::vector<Curve>& curves) {
  uint64_t smallest = UINT64_MAX;
  for (const Curve& curve : curves) {
    if (!curve.points.empty()) smallest = std::min(smallest, curve.points.front().shape.bytes);
  }
  return smallest;
}

}  // namespace

VariantReport report_on(const placement::VariantHandle& variant, const placement::Profile* profile,
                        int cpus, bool with_hoistd, const std::vector<uint64_t>& sizes) {
  VariantReport report;
  report.name = variant.name();
  report.note = variant.operation().note;
  report.cpus = cpus;
  const auto& implementations = variant.operation().implementations;
  const MeasuredVariant* measured =
      profile != nullptr ? profile->find(report.name, Residency::host) : nullptr;
  const DecisionTable alone(variant, Residency::host, profile, cpus);
  report.choices = break_evens(variant, alone);
  report.measured = alone.choices().front().basis == Basis::measured;
  report.with_hoistd = with_hoistd && measured != nullptr && !measured->rows_with_hoistd.empty();
  const DecisionTable lent(variant, Residency::host, profile, cpus, /*with_hoistd=*/true);
  if (lent.choices() != alone.choices()) report.choices_with_hoistd = break_evens(variant, lent);
  const DecisionTable& table = report.with_hoistd ? lent : alone;
  std::optional<Model> model;
  if (measured != nullptr) {
    report.uncertainty = placement::uncertainty(*measured);
    model.emplace(*measured, &variant.operation(), profile->machine.cpus, report.with_hoistd);
    for (const auto& one : measured->implementations) {
      report.curves.push_back({one.name, one.points});
    }
  }
  for (const uint64_t bytes : sizes) {
    const Choice& choice = table.find(bytes);
    SizeReport one;
    one.bytes = bytes;
    one.chosen = implementations[choice.implementation].name;
    for (size_t i = 0; model && i < model->size(); ++i) {
      one.predictions.push_back({model->name(i), model->seconds(i, bytes, cpus),
                                 model->uncertainty(i, bytes), model->lead(i)});
    }
    const bool is_beyond = model && bytes > model->largest();
    one.extrapolated = is_beyond || (model && bytes < smallest_measured(report.curves));
    one.reason = reason_for(one.predictions, one.chosen, choice.basis, is_beyond, cpus);
    report.sizes.push_back(std::move(one));
  }
  return report;
}

}  // namespace hoist::cli
