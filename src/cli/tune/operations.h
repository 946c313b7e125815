// The operations that this version has, for the tools that measure and explain them.
#pragma once

#include "base/result.h"
#include "placement/operation.h"

namespace hoist::cli {

// Adds sort, hash and gunzip, with the engines that lie beside the running tool.
Status register_operations(placement::Registry& registry);

// The variants that `name`, OPERATION or OPERATION/VARIANT, stands for; all for "". Where there is
// none: `invalid_argument`, naming what there is.
Result<std::vector<const placement::VariantHandle*>> select_variants(
    const placement::Registry& registry, const std::string& name);

// "512 KiB", "1.5 MiB", "never" for UINT64_MAX.
std::string show_size(uint64_t bytes);

// "1.25 ms", three digits.
std::string show_seconds(double seconds);
// "original, cpu-1 from 64 KiB"
std::string show_choices(const std::vector<placement::Interval>& intervals);

}  // namespace hoist::cli
