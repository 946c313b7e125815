// Different quality for different layers of a model.
//
//   QualityPolicy policy(0.9);
//   policy.add({"attention.*", 0.999, 10});
//   policy.add({"*mlp*", 0.95});
//   policy.target("model.layers.3.attention.q_proj.weight");   // 0.999
//
// `*` stands for any characters, dots too, `?` for one; letter case counts. A pattern matches a
// name whole, or from one of its dots on: "attention.*" is meant for every layer's attention. Of
// the rules that match, that of the highest priority counts, and among equals the one added first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::tensors {

struct LayerQualityTarget {
  std::string pattern;
  double quality = 1;  // clamped to 0…1
  int priority = 0;
};

class QualityPolicy {
 public:
  // `otherwise` is the target of names that no rule matches.
  explicit QualityPolicy(double otherwise = 1);

  void add(LayerQualityTarget rule);
  double target(std::string_view name) const;

 private:
  double otherwise_;
  std::vector<LayerQualityTarget> rules_;  // by priority, highest first
};

bool matches(std::string_view pattern, std::string_view name);

// "PATTERN=QUALITY" or "PATTERN=QUALITY@PRIORITY", as on the command line.
Result<LayerQualityTarget> parse_layer_target(const std::string& text);

}  // namespace hoist::tensors
