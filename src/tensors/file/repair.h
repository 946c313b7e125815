// Verifying .holo files, and repairing them from their parity.
//
//   Result<HoloVerifyReport> report = verify_holotensor(**container::open_file_source(path));
//   if (report && !report->ok() && report->repairable)
//     Result<HoloRepairReport> done = repair_holotensor(**container::open_file_source(path), path);
//
// Any byte that differs from what was written is found. A file with K parity shards a group can be
// repaired as long as no group has lost more than K shards and one of the K + 1 places with the
// metadata is intact; index, padding and block headers follow from the metadata. What repair writes
// is the original file, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "base/output_file.h"
#include "container/verify.h"
#include "tensors/file/header.h"

namespace hoist::tensors {

struct HoloVerifyReport {
  container::VerifyReport container;
  uint64_t shards = 0;
  std::vector<uint64_t> lost_shards;      // ascending
  std::vector<std::string> lost_tensors;  // that need a shard which parity cannot give back
  bool metadata_lost = false;             // in all places: then nothing is known of shards
  bool repairable = false;
  bool some_left = false;  // of a damaged file: a tensor that can be read whole

  bool ok() const { return container.ok() && lost_shards.empty() && !metadata_lost; }
};

// Reads the file once, and a damaged one twice. An error (not damage) is returned only where the
// source cannot be read, is no tensor file, or of a newer version or another program's format
// (`unsupported`).
Result<HoloVerifyReport> verify_holotensor(const container::Source& source,
                                           const container::Progress& progress = {});

struct HoloRepairReport {
  uint64_t shards = 0;
  uint64_t repaired = 0;
  uint64_t file_size = 0;
};

// Writes the repaired file to `path`, which may be the damaged one's: it is replaced when the new
// one is whole. `corrupt`, naming tensors, where too much is lost; then `path` is untouched.
Result<HoloRepairReport> repair_holotensor(const container::Source& source, const std::string& path,
                                           const container::Progress& progress = {},
                                           bool durable = true,
                                           const OutputRule& output = {.replace = Replace::any});

}  // namespace hoist::tensors
