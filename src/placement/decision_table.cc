#include "placement/decision_table.h"

#include <algorithm>
#include <optional>

#include "base/load.h"
#include "base/per_process.h"
#include "placement/profile_file.h"

namespace hoist::placement {
namespace {

const std::vector<Interval>* measured_intervals(const VariantHandle& variant, Residency residency,
                                                const Profile* profile, int cpus,
                                                bool with_hoistd) {
  const MeasuredVariant* measured =
      profile != nullptr ? profile->find(variant.name(), residency) : nullptr;
  const Row* row = measured != nullptr ? measured->row_for(cpus, with_hoistd) : nullptr;
  return row != nullptr ? &row->intervals : nullptr;
}

// The index of what may run on `cpus` CPUs with data at `residency`.
std::optional<size_t> find_usable(const Operation& operation, const std::string& name,
                                  Residency residency, int cpus) {
  const std::vector<Implementation>& list = operation.implementations;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name != name || list[i].residency != residency) continue;
    if (list[i].threads != 0 || cpus > 1) return i;
    // On one CPU its sequential companion does the same work without the threads.
    if (name == "cpu-all") return find_usable(operation, "cpu-1", residency, cpus);
  }
  return {};
}

}  // namespace

DecisionTable::DecisionTable(const VariantHandle& variant, Residency residency,
                             const Profile* profile, int cpus, bool with_hoistd) {
  const Operation& operation = variant.operation();
  const std::vector<Interval>* intervals =
      measured_intervals(variant, residency, profile, cpus, with_hoistd);
  const Basis basis = intervals != nullptr ? Basis::measured : Basis::compiled_in;
  if (intervals == nullptr) intervals = &operation.variants[variant.variant()].defaults;
  choices_.push_back({0, 0, UINT64_MAX, basis});
  for (const Interval& interval : *intervals) {
    const std::optional<size_t> index =
        find_usable(operation, interval.implementation, residency, cpus);
    if (!index) continue;
    if (interval.from == 0 || *index == choices_.back().implementation) {
      choices_.back().implementation = *index;
      continue;
    }
    choices_.back().until = interval.from;
    choices_.push_back({*index, interval.from, UINT64_MAX, basis});
  }
  size_t at = 0;
  for (size_t width = 0; width < start_.size(); ++width) {
    const uint64_t least = width == 0 ? 0 : uint64_t{1} << (width - 1);
    while (at + 1 < choices_.size() && choices_[at].until <= least) ++at;
    start_[width] = static_cast<uint16_t>(at);
  }
}

const DecisionTable& DecisionTable::build(const VariantHandle& variant, Residency residency) {
  // No lock and no guarded static: a child after fork() must not wait for a thread that it has not.
  struct Load {
    const int cpus = free_cpus();  // one look at it, so that all choices agree
  };
  static constinit PerProcess<Load> load;
  const DecisionTable* made =
      new DecisionTable(variant, residency, process_profile().profile(), load.get().cpus);
  const DecisionTable* known = nullptr;
  auto& slot = variant.tables_[static_cast<size_t>(residency)];
  if (slot.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *known;
}

}  // namespace hoist::placement
