// A .npz whose entries are compressed, as the one that holds the same entries uncompressed: headers
// and directory are written anew, the contents are decompressed when they are read.
#pragma once

#include <memory>

#include "tensors/model/zip_archive.h"

namespace hoist::tensors {

// Whether the entry's content can be decompressed: by deflate, not encrypted, and no larger than
// deflate makes of so many bytes.
bool is_inflatable(const ZipEntry& entry);

struct InflatedArchive {
  std::unique_ptr<container::Source> file;
  ZipDirectory directory;  // that `file` has
  // The same bytes, for reading headers: of a content it decompresses what is read and what lies
  // before, and checks nothing. `file` must outlive it.
  std::unique_ptr<container::Source> heads;
};

// `compressed`, which must outlive it, has that directory. Each entry that is_inflatable() becomes
// a stored one, all others stay as they are. `corrupt` where entries share bytes: so all of them
// together have no more than deflate makes of the file. Reading is `corrupt` where an entry does
// not give the size and CRC-32 that the directory has of it. Memory: the entry that was read last.
Result<InflatedArchive> inflated_archive(const container::Source& compressed,
                                         const ZipDirectory& directory);

}  // namespace hoist::tensors
