// Verifying a container without decoding it: every header, every payload's checksum, padding, the
// index against the frames, ids, and the digests with their root. Any byte that differs from what
// was written is found: each byte of a file is covered by a checksum or must be zero.
//
//   Result<VerifyReport> report = verify(**open_file_source("weights.holo"));
//   if (report && !report->ok()) for (const Damage& damage : report->damage) …
//
// Runs on all threads of the process's pool, at the speed of the disk or, from the page cache, of
// the checksum; a block's
// bytes are taken in order, so that one block of most of the file gains less from many threads. An
// error (not damage) is returned only where the source cannot be read, a limit is met, or the file
// is of a newer version (`unsupported`).
#pragma once

#include "container/survey.h"

namespace hoist::container {

struct VerifyOptions {
  Limits limits = {};
  std::optional<Blake3Digest> root = std::nullopt;  // that the container must have
  Progress progress = {};
};

struct VerifyReport {
  uint64_t file_size = 0;
  std::optional<FileHeader> header;
  uint64_t blocks = 0;  // intact ones, and their sizes
  uint64_t raw_bytes = 0;
  uint64_t stored_bytes = 0;
  uint64_t commits = 0;
  uint64_t duplicates = 0;  // further copies of the same block: no damage
  std::optional<Blake3Digest> root;
  std::vector<Damage> damage;  // by offset, the first Survey::kMaxDamage
  uint64_t damage_count = 0;

  bool ok() const { return damage_count == 0; }
};

Result<VerifyReport> verify(const Source& source, const VerifyOptions& options = {});

}  // namespace hoist::container
