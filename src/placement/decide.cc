#include "placement/decide.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "placement/certainty.h"
#include "takeover/decisions.h"

namespace hoist::placement {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Sizes at which choices are compared; a change between two is bisected to the byte. Two crossings
// within one step would cancel out, and matter no more than a step's change in cost.
constexpr int kStepsAnOctave = 16;
constexpr int kOctaves = 48;  // 256 TiB

std::vector<uint64_t> grid() {
  std::vector<uint64_t> sizes = {0};
  for (int step = 0; step <= kStepsAnOctave * kOctaves; ++step) {
    const auto size = static_cast<uint64_t>(std::exp2(static_cast<double>(step) / kStepsAnOctave));
    if (size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

// What a row chose at `bytes`, as an index of the model; its size() where that is not in the model.
size_t chosen_at(const Row& row, const Model& model, uint64_t bytes) {
  std::string name;
  for (const Interval& interval : row.intervals) {
    if (interval.from <= bytes) name = interval.implementation;
  }
  size_t index = 0;
  while (index < model.size() && model.name(index) != name) ++index;
  return index;
}

class RowBuilder {
 public:
  RowBuilder(const Model& model, int cpus, const Row* previous, double stay)
      : model_(model), cpus_(cpus), previous_(previous), stay_(stay) {}

  Row build() const {
    static const std::vector<uint64_t> kSizes = grid();
    size_t current = pick(kSizes[0], 0);
    Row row{cpus_, {{0, model_.name(current)}}};
    for (size_t i = 1; i < kSizes.size() && kSizes[i] <= model_.largest(); ++i) {
      const size_t next = pick(kSizes[i], current);
      if (next == current) continue;
      row.intervals.push_back({first_change(kSizes[i - 1], kSizes[i], current), model_.name(next)});
      current = next;
    }
    return row;
  }

 private:
  bool is_ahead_of(size_t other, size_t current, uint64_t bytes, double margin) const {
    const auto cost = [&](size_t index) {
      return Cost{model_.seconds(index, bytes, cpus_), model_.uncertainty(index, bytes)};
    };
    return is_ahead(cost(other), cost(current), margin, model_.lead(other));
  }

  // Each in turn has to be ahead of what is best before it. So nothing that was passed over is
  // ahead of what is picked, where those that need a larger lead come later.
  size_t best_from(size_t current, uint64_t bytes, double margin) const {
    for (size_t other = 0; other < model_.size(); ++other) {
      if (is_ahead_of(other, current, bytes, margin)) current = other;
    }
    return current;
  }

  size_t pick(uint64_t bytes, size_t current) const {
    if (previous_ != nullptr) {
      const size_t before = chosen_at(*previous_, model_, bytes);
      if (before < model_.size() && best_from(before, bytes, kHysteresis) == before) return before;
    }
    return best_from(current, bytes, stay_);
  }

  // The least size in (low, high] at which `current` is no longer picked.
  uint64_t first_change(uint64_t low, uint64_t high, size_t current) const {
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (pick(middle, current) == current ? low : high) = middle;
    }
    return high;
  }

  const Model& model_;
  const int cpus_;
  const Row* previous_;
  const double stay_;
};

const Row* row_for_exactly(const MeasuredVariant* variant, int cpus, bool with_hoistd) {
  const Row* row = variant != nullptr ? variant->row_for(cpus, with_hoistd) : nullptr;
  return row != nullptr && row->cpus == cpus ? row : nullptr;
}

std::vector<Row> decide_rows(const Model& model, int measured_cpus, const MeasuredVariant* before,
                             bool with_hoistd) {
  std::vector<Row> rows;
  if (model.size() == 0) return rows;
  std::vector<int> counts;
  for (int cpus = 1; cpus < measured_cpus; cpus *= 2) counts.push_back(cpus);
  counts.push_back(measured_cpus);
  for (const int cpus : counts) {
    rows.push_back(decide_row(model, cpus, row_for_exactly(before, cpus, with_hoistd)));
  }
  return rows;
}

hoist_choice choice_named(const std::string& name) {
  for (const hoist_choice choice : {HOIST_CHOICE_ORIGINAL, HOIST_CHOICE_CPU_1, HOIST_CHOICE_CPU_ALL,
                                    HOIST_CHOICE_CUDA, HOIST_CHOICE_HOISTD}) {
    if (name == hoist_choice_name(choice)) return choice;
  }
  return HOIST_CHOICE_UNKNOWN;
}

// Empty where the row names what whole programs do not have, or does not fit.
std::string format_row(const std::string& name, const Row& row) {
  std::vector<hoist_interval> intervals;
  for (const Interval& interval : row.intervals) {
    intervals.push_back({interval.from, choice_named(interval.implementation)});
    if (intervals.back().choice == HOIST_CHOICE_UNKNOWN) return {};
  }
  if (intervals.size() > HOIST_MOST_INTERVALS) return {};
  std::array<char, 1024> line;
  const size_t length = hoist_format_decisions_row(line.data(), line.size(), name.c_str(), row.cpus,
                                                   intervals.data(), intervals.size());
  return {line.data(), length};
}

std::string format_rows(const std::string& name, const std::vector<Row>& rows) {
  std::string lines;
  const Row* written = nullptr;
  for (const Row& row : rows) {
    // For a number of CPUs without a row the next smaller one's counts, so that it is said once.
    if (written != nullptr && written->intervals == row.intervals) continue;
    const std::string line = format_row(name, row);
    lines += line;
    if (!line.empty()) written = &row;
  }
  return lines;
}

}  // namespace

Model::Model(const MeasuredVariant& variant, const Operation* operation, int measured_cpus,
             bool with_hoistd)
    : measured_cpus_(measured_cpus) {
  implementations_.reserve(variant.implementations.size());  // one_cpu_ points into it
  const double caution = placement::caution(variant);
  for (const MeasuredImplementation& measured : variant.implementations) {
    if (needs_hoistd(measured.name) && !with_hoistd) continue;
    Entry entry{measured.name,
                CostCurve(measured.points, operation != nullptr ? operation->growth : 1),
                measured.name == "cpu-all",
                {},
                measured.points.front().shape.items,
                caution};
    if (operation != nullptr) {
      const auto found =
          std::find_if(operation->implementations.begin(), operation->implementations.end(),
                       [&](const Implementation& one) { return one.name == measured.name; });
      if (found == operation->implementations.end()) continue;
      entry.uses_all_cpus = found->threads == 0;
      entry.supports = found->supports;
      entry.lead = caution * found->lead;
    }
    largest_ = std::max(largest_, measured.points.back().shape.bytes);
    implementations_.push_back(std::move(entry));
    if (measured.name == "cpu-1") one_cpu_ = &implementations_.back().curve;
  }
}

double Model::seconds(size_t implementation, uint64_t bytes, double cpus) const {
  const Entry& entry = implementations_[implementation];
  if (entry.supports && !entry.supports({bytes, entry.items})) return kNever;
  if (implementation > 0 && bytes < entry.curve.first()) return kNever;
  const double all = entry.curve.seconds(bytes);
  if (!entry.uses_all_cpus) return all;
  if (cpus < 2 && implementation > 0) return kNever;
  const double one = one_cpu_ != nullptr ? one_cpu_->seconds(bytes) : all * measured_cpus_;
  return with_cpus(one, all, measured_cpus_, cpus);
}

bool is_ahead(const Cost& other, const Cost& current, double margin, double lead) {
  const double doubt = lead * std::hypot(other.uncertainty, current.uncertainty);
  return other.seconds * (1 + std::max(margin, doubt)) < current.seconds;
}

Row decide_row(const Model& model, int cpus, const Row* previous) {
  // So many intervals mean that curves run beside one another: then less is a gain.
  Row row = RowBuilder(model, cpus, previous, kStay).build();
  for (double stay = 2 * kStay; row.intervals.size() > HOIST_MOST_INTERVALS; stay *= 2) {
    row = RowBuilder(model, cpus, nullptr, stay).build();
  }
  return row;
}

void decide(Profile& profile, const Profile* previous, const Registry& registry) {
  for (MeasuredVariant& variant : profile.variants) {
    const std::string operation = variant.name.substr(0, variant.name.find('/'));
    const MeasuredVariant* before =
        previous != nullptr ? previous->find(variant.name, variant.residency) : nullptr;
    const auto rows = [&](bool with_hoistd) {
      const Model model(variant, registry.find(operation), profile.machine.cpus, with_hoistd);
      return decide_rows(model, profile.machine.cpus, before, with_hoistd);
    };
    const bool is_apart =
        std::any_of(variant.implementations.begin(), variant.implementations.end(),
                    [](const auto& measured) { return needs_hoistd(measured.name); });
    variant.rows = rows(false);
    variant.rows_with_hoistd = is_apart ? rows(true) : std::vector<Row>{};
  }
}

std::string decisions_text(const Profile& profile) {
  std::array<char, 64> head;
  std::string text(head.data(),
                   hoist_format_decisions_head(head.data(), head.size(), hoist_machine_key()));
  const auto add = [&](const std::string& name, const std::vector<Row>& rows) {
    const std::string lines = format_rows(name, rows);
    if (text.size() + lines.size() <= HOIST_DECISIONS_LIMIT) text += lines;
  };
  for (const bool with_hoistd : {false, true}) {  // what all need comes first
    for (const MeasuredVariant& variant : profile.variants) {
      if (variant.find("original") == nullptr) continue;
      if (with_hoistd) {
        add(variant.name + HOIST_WITH_HOISTD, variant.rows_with_hoistd);
      } else {
        add(variant.name, variant.rows);
      }
    }
  }
  return text;
}

}  // namespace hoist::placement
