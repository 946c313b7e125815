// What of each tensor a call wants.
#include <fmt/core.h>

#include "capi/status.h"
#include "capi/tensors_file.h"

namespace hoist::capi {

using namespace tensors;

Status check_target(double target) {
  if (target >= 0 && target <= 1) return {};  // and not NaN
  return fail(ErrorCode::invalid_argument, fmt::format("a target of {}: 0 to 1", target));
}

Result<QualityPolicy> policy_of(const char* const* rules, size_t count, double otherwise) {
  if (Status there = needed(rules, "policy"); !there) return there.error();
  QualityPolicy policy(otherwise);
  for (size_t i = 0; i < count; ++i) {
    if (Status there = needed(rules[i], "policy"); !there) return there.error();
    Result<LayerQualityTarget> rule = parse_layer_target(rules[i]);
    if (!rule) return rule.error();
    policy.add(std::move(*rule));
  }
  return policy;
}

std::unique_ptr<ThreadPool> limited_pool(unsigned threads) {
  if (threads == 0 || threads >= static_cast<unsigned>(usable_cpus())) return nullptr;
  return std::make_unique<ThreadPool>(static_cast<int>(threads));
}

Result<Selection> Selection::of(const hoist_tensors_read_options& options) {
  Selection selection;
  if (Status valid = check_target(options.target); !valid) return valid.error();
  if (!(options.min_quality >= 0 && options.min_quality <= 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a least quality of {}: 0 to 1", options.min_quality));
  }
  const int wishes = (options.target > 0 || options.policy_count > 0) + (options.layers > 0) +
                     (options.fragment_count > 0);
  if (wishes > 1) {
    return fail(ErrorCode::invalid_argument,
                "one of target (with policy), layers and fragments, not several");
  }
  PartSelection& parts = selection.everywhere_;
  if (options.target > 0) parts.target = options.target;
  if (options.layers > 0) parts.layers = options.layers;
  if (options.fragment_count > 0) {
    if (Status there = needed(options.fragments, "fragments"); !there) {
      return there.error();
    }
    if (options.fragment_count > kMaxParts) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} fragments: no tensor has more than {}", options.fragment_count,
                              kMaxParts));
    }
    parts.fragments.assign(options.fragments, options.fragments + options.fragment_count);
  }
  if (options.policy_count > 0) {
    auto policy = policy_of(options.policy, options.policy_count, parts.target.value_or(1));
    if (!policy) return policy.error();
    selection.policy_ = std::move(*policy);
  }
  selection.tolerance_ = {options.skip_damaged != 0, options.min_quality};
  selection.own_pool_ = limited_pool(options.threads);
  return selection;
}

PartSelection Selection::of_tensor(const HoloTensor& tensor) const {
  if (!policy_) return everywhere_;
  PartSelection parts;
  parts.target = policy_->target(tensor.name);
  return parts;
}

}  // namespace hoist::capi
