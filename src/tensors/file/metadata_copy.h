// Opening files whose metadata is damaged, by the copies that lie behind their shards.
//
//   Result<std::unique_ptr<container::Source>> mended = with_metadata_copy(source);
//
// Only what the end of the file lists is looked at, not every byte as `hoist tensors repair` does.
#pragma once

#include <memory>

#include "container/source.h"

namespace hoist::tensors {

// The same source once more.
std::unique_ptr<container::Source> share(std::shared_ptr<const container::Source> source);

// `source` with the metadata as it was, where a copy of it is intact. `corrupt` where none is,
// where the file's header is damaged, or its list of blocks. Memory: the metadata, and
// at most four times the bytes of the list, both within holo_limits().
Result<std::unique_ptr<container::Source>> with_metadata_copy(
    std::shared_ptr<const container::Source> source);

}  // namespace hoist::tensors
