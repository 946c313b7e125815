// A .npz whose entries are compressed, as the one that holds the same entries uncompressed: headers
// and directory are written anew, the contents are decompressed when they are read.
#pragma once

#include <memory>

#include "tensors/model/zip_archive.h"

namespace hoist::tensors {

// Whether the entry's content can be decompressed: by deflate, not encrypted, and no larger than
// deflate makes of so many bytes.
bool is_inflatable(const ZipEntry& entry);

// `compressed`, which must outlive it, has that directory. Each entry that is_inflatable() becomes
// a stored one, all others stay as they are. Reading is `corrupt` where an entry does not give the
// size and CRC-32 that the directory has of it. Memory: the entry that was read last.
Result<std::unique_ptr<container::Source>> inflated_archive(const container::Source& compressed,
                                                            const ZipDirectory& directory);

}  // namespace hoist::tensors
