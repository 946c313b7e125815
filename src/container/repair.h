// Saving what is intact of a damaged container into a new one. The damaged one is only read.
//
//   Result<RepairReport> report = repair(**open_file_source("bad.holo"), "good.holo");
//
// The new container has the kind, the metadata and all blocks whose header and bytes agree, in the
// order of the file, those of an unfinished session too; of blocks with the same id the first. Its
// index is at the end. Digests are made anew where the old container had them, so that the root is
// the same exactly where nothing was lost.
#pragma once

#include "base/output_file.h"
#include "container/survey.h"

namespace hoist::container {

struct RepairReport {
  uint64_t blocks = 0;  // saved
  uint64_t stored_bytes = 0;
  uint64_t duplicates = 0;  // left out: the id was there already
  bool kind_lost = false;
  bool metadata_lost = false;
  std::vector<Damage> damage;  // what was found, by offset, the first Survey::kMaxDamage
  uint64_t damage_count = 0;
};

struct RepairOptions {
  Limits limits = {};
  Progress progress = {};
  bool durable = true;  // as WriterOptions::durable
  OutputRule output = {.replace = Replace::any};
};

// `corrupt` where there is nothing to be saved, `unsupported` on files of a newer version; then,
// and on any other error, `path` is untouched.
Result<RepairReport> repair(const Source& source, const std::string& path,
                            const RepairOptions& options = {});

}  // namespace hoist::container
