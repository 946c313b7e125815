// Whether the input is many small files, which a GPU may hash (gpu_hasher.h): by their names,
// before they are read.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/hash/options.h"

namespace hoist::hash {

// About how many bytes they are together. Nothing where they are few, or such files on average as a
// GPU does not take, or where that is not known: of files on standard input, or several lists to be
// checked. `bytes`: of all files, where somebody has looked; else some of them are looked at.
std::optional<uint64_t> bytes_of_small_files(const Options& options, std::optional<uint64_t> bytes);

}  // namespace hoist::hash
