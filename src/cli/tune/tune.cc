#include "cli/tune/tune.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/threads.h"
#include "cli/interrupts.h"
#include "cli/report.h"
#include "cli/tune/operations.h"
#include "cli/tune/progress.h"
#include "placement/certainty.h"
#include "placement/decide.h"
#include "placement/measure.h"
#include "placement/merge.h"
#include "placement/profile_file.h"
#include "placement/profile_paths.h"
#include "placement/refine.h"
#include "placement/rows_json.h"
#include "placement/spawned_group.h"

namespace hoist::cli {
namespace {

using placement::MeasuredVariant;
using placement::Profile;
using placement::VariantHandle;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

// How much is measured. Sizes that do not fit into a variant's share of the time are left out.
struct Effort {
  uint64_t least;
  uint64_t most;
  double step;
  double seconds;  // for all variants
  int most_rounds;
};
constexpr Effort kQuick = {16 << 10, 32 << 20, 4, 48, 25};
constexpr Effort kFull = {1 << 10, 512 << 20, 2, 480, 200};

// A profile for more CPUs holds for fewer too, so measuring with these would only lose it.
Status check_cpus() {
  const placement::Machine machine = placement::this_machine();
  const Result<Profile> before = placement::read_profile();
  const bool has_more =
      before && machine.is_served_by(before->machine) && before->machine.cpus > machine.cpus;
  if (!has_more) return {};
  return fail(ErrorCode::unavailable,
              fmt::format("the profile is of {} CPUs, and this process may use {} ({}): measure "
                          "with all, or name another file with HOIST_PROFILE",
                          before->machine.cpus, machine.cpus, placement::profile_paths()->profile));
}

// A directory of our own that goes with the object.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "hoist-tune-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    remove_when_ended(path_.c_str());
  }
  ~ScratchDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
    remove_when_ended(nullptr);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* kBusyMachine =
    "the machine is busy, and it has more certain times (--force replaces them)";

struct Outcome {
  Profile profile;
  std::vector<std::string> skipped;  // "sort/locale: why"
  std::vector<std::string> kept;     // variants of which the earlier measurement stays
};

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc;
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// Sizes for `operation`. From 64 MiB on, where a run takes long, those are a factor of four apart
// that only some operations ask for.
std::vector<uint64_t> sizes_for(const placement::Operation& operation, const Effort& effort) {
  if (operation.most_bytes <= effort.most) {
    return placement::log_spaced(effort.least, effort.most, effort.step);
  }
  constexpr uint64_t kLarge = uint64_t{64} << 20;
  auto sizes = placement::log_spaced(effort.least, std::min(effort.most, kLarge), effort.step);
  for (uint64_t size = 4 * sizes.back(); size <= operation.most_bytes; size *= 4) {
    sizes.push_back(size);
  }
  return sizes;
}

// Measures the variants one after another; what one does not use of its time the others get.
Result<Outcome> measure_all(const std::vector<const VariantHandle*>& variants,
                            const Effort& effort) {
  const ScratchDirectory scratch;
  if (scratch.path().empty()) {
    return fail(ErrorCode::io, "no directory for input files (TMPDIR): set it to a writable one");
  }
  Outcome outcome;
  outcome.profile.machine = placement::this_machine();
  outcome.profile.measured = now();
  Progress progress;
  const Clock::time_point start = Clock::now();
  const auto share_of = [](const VariantHandle* variant) {
    return variant->operation().share_of_time;
  };
  double all_shares = 0;
  for (const VariantHandle* variant : variants) all_shares += share_of(variant);
  double shares = all_shares;  // of those that are left
  for (size_t i = 0; i < variants.size(); ++i) {
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    placement::MeasurePlan plan;
    plan.sizes = sizes_for(variants[i]->operation(), effort);
    plan.seconds = std::max(0.0, effort.seconds - spent) * share_of(variants[i]) / shares;
    const double done = 1 - shares / all_shares;
    const double own = share_of(variants[i]) / all_shares;
    shares -= share_of(variants[i]);
    plan.most_rounds = effort.most_rounds;
    plan.cpus = usable_cpus();
    plan.directory = scratch.path();
    plan.cancelled = is_interrupted;
    const std::string name = variants[i]->name();
    plan.at_size = [&, done, own, begin = Clock::now(), seconds = plan.seconds](uint64_t bytes) {
      const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
      const double part = seconds > 0 ? std::min(1.0, taken / seconds) : 0;
      progress.show(done + own * part, fmt::format("{} {}", name, show_size(bytes)));
    };
    auto measured = placement::measure(variants[i]->operation(), variants[i]->variant(), plan);
    if (!measured && measured.error().code == ErrorCode::cancelled) {
      return measured.error();
    }
    if (!measured) {
      outcome.skipped.push_back(fmt::format("{}: {}", name, measured.error().message));
      continue;
    }
    for (const std::string& left_out : measured->left_out) {
      outcome.skipped.push_back(fmt::format("{} {}", name, left_out));
    }
    outcome.profile.variants.push_back(std::move(measured->variant));
  }
  return outcome;
}

// Merges the profile that stands with what was measured, decides and writes; `unavailable` where
// all of it is too uncertain to replace anything.
Status merge_and_write(Outcome& outcome, bool force, const placement::Registry& registry) {
  const Result<UniqueFd> lock = placement::lock_profile();
  if (!lock) return lock.error();
  Profile& profile = outcome.profile;
  const size_t measured = profile.variants.size();
  const Result<Profile> before = placement::read_profile();
  const bool is_ours = before && before->machine.cpus == profile.machine.cpus &&
                       profile.machine.is_served_by(before->machine);
  if (is_ours && force) placement::replace_earlier(profile, *before);
  if (is_ours && !force) outcome.kept = placement::keep_earlier(profile, *before);
  if (outcome.kept.size() == measured) {
    return fail(ErrorCode::unavailable, fmt::format("the profile is as it was: {} ({})",
                                                    kBusyMachine, fmt::join(outcome.kept, ", ")));
  }
  placement::decide(profile, is_ours ? &*before : nullptr, registry);
  return placement::write_profile(profile);
}

void print_json(const Outcome& outcome, const std::vector<const VariantHandle*>& measured) {
  Json variants = Json::array();
  for (const VariantHandle* handle : measured) {
    const MeasuredVariant* variant =
        outcome.profile.find(handle->name(), placement::Residency::host);
    if (variant == nullptr) continue;
    Json json = {{"name", variant->name},
                 {"uncertainty", placement::uncertainty(*variant)},
                 {"rows", placement::json_of(variant->rows)}};
    if (!variant->rows_with_hoistd.empty()) {
      json["rows_with_hoistd"] = placement::json_of(variant->rows_with_hoistd);
    }
    variants.push_back(std::move(json));
  }
  const Json json = {{"profile", placement::profile_paths()->profile},
                     {"variants", std::move(variants)},
                     {"skipped", outcome.skipped},
                     {"kept", outcome.kept}};
  fmt::print("{}\n", json.dump(2, ' ', true, Json::error_handler_t::replace));
}

void print_text(const Outcome& outcome, const std::vector<const VariantHandle*>& measured) {
  constexpr double kMuch = 0.02;
  for (const VariantHandle* handle : measured) {
    const MeasuredVariant* variant =
        outcome.profile.find(handle->name(), placement::Residency::host);
    if (variant == nullptr || variant->rows.empty()) continue;
    std::string line =
        fmt::format("{:<22}{}", variant->name, show_choices(variant->rows.back().intervals));
    const double doubt = placement::uncertainty(*variant);
    if (doubt > placement::kBusy) {
      line += fmt::format("  (±{:.0f} %: the machine is busy, what is not far ahead is not chosen)",
                          100 * doubt);
    } else if (doubt > kMuch) {
      line += fmt::format("  (±{:.0f} %: is the machine busy?)", 100 * doubt);
    }
    fmt::print("{}\n", line);
    if (!variant->rows_with_hoistd.empty()) {
      fmt::print("{:<22}while a hoistd answers: {}\n", "",
                 show_choices(variant->rows_with_hoistd.back().intervals));
    }
  }
  for (const std::string& skipped : outcome.skipped) warn("not measured: " + skipped);
  for (const std::string& kept : outcome.kept) {
    warn(fmt::format("{} is as it was in the profile: {}", kept, kBusyMachine));
  }
  fmt::print("profile: {}\n", placement::profile_paths()->profile);
}

int refine(const placement::Registry& registry, bool json) {
  const Result<bool> refined = placement::refine_profile(registry, 1);
  if (!refined) return report(refined.error());
  json ? fmt::print("{}\n", Json{{"refined", *refined}}.dump())
       : fmt::print("{}\n", *refined ? "the profile was refined" : "nothing to refine");
  return kDone;
}

}  // namespace

int tune_command(const TuneOptions& options) {
  placement::Registry& registry = placement::Registry::process();
  if (const Status status = register_operations(registry); !status) return report(status.error());
  if (options.refine) return refine(registry, options.json);
  const auto variants = select_variants(registry, options.operation);
  if (!variants) return report(variants.error());
  if (const Status place = placement::check_profile_place(); !place) return report(place.error());
  if (const Status status = check_cpus(); !status) return report(status.error());
  end_when_interrupted(placement::end_spawned_group);
  catch_interrupts();
  ::signal(SIGCHLD, SIG_DFL);  // the end of children is waited for
  // What waits belongs to the profile that stands.
  if (placement::read_profile()) (void)placement::refine_profile(registry, 1);
  Effort effort = options.quick ? kQuick : kFull;
  if (options.seconds > 0) effort.seconds = options.seconds;
  Result<Outcome> outcome = measure_all(*variants, effort);
  if (!outcome) return report(outcome.error());
  if (outcome->profile.variants.empty()) {
    return report({ErrorCode::unavailable,
                   fmt::format("nothing could be measured ({})", outcome->skipped.front())});
  }
  if (const Status status = merge_and_write(*outcome, options.force, registry); !status) {
    return report(status.error());
  }
  options.json ? print_json(*outcome, *variants) : print_text(*outcome, *variants);
  return kDone;
}

}  // namespace hoist::cli
