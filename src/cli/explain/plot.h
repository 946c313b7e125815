// The picture of `hoist explain --plot`: predicted time over size, one line an implementation, on
// logarithmic axes, with the measured points and the sizes at which the choice changes.
#pragma once

#include <string>
#include <vector>

#include "cli/explain/report_data.h"
#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::cli {

// A self-contained SVG that is readable on light and on dark ground: one such picture a variant,
// one below another. `reports` are of the variants of one operation, which have measurements in
// `profile`.
std::string plot_svg(const std::vector<VariantReport>& reports,
                     const placement::Operation& operation, const placement::Profile& profile);

}  // namespace hoist::cli
