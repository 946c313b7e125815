// Saving the rows of a damaged or unfinished file into a new one. The damaged one is only read.
//
//   Result<RepairReport> report = repair(**container::open_file_source("bad.hrec"), "good.hrec");
//
// Saved are all blocks whose bytes are whole and decode, wherever they lie by now
// (container/moved_frames.h), those of an unfinished session too, in the order of their rows. The
// new file counts its rows from 0. A piece of a line of more than kMaxBlockText bytes is given up
// where the piece behind it is lost: the next line would go on in it.
//
// Memory: a block a thread, decoded, and some 100 bytes for each block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/result.h"
#include "base/threads.h"
#include "container/survey.h"

namespace hoist::records {

// Rows of the damaged file, counted there.
struct LostRows {
  uint64_t first = 0;
  std::optional<uint64_t> end;         // nothing: up to the end, wherever that was
  std::optional<uint64_t> text_bytes;  // where the index tells
};

struct RepairReport {
  uint64_t rows = 0;  // saved
  uint64_t blocks = 0;
  uint64_t text_bytes = 0;
  uint64_t file_bytes = 0;     // of the new file
  std::vector<LostRows> lost;  // by their place
  // Whether something followed the last saved row is not known: no commit tells where the file
  // ended.
  bool is_end_unknown = false;
  bool metadata_lost = false;             // the names of a CSV's columns among it
  uint64_t duplicates = 0;                // blocks left out: their rows were there already
  std::vector<container::Damage> damage;  // the first container::Survey::kMaxDamage
  uint64_t damage_count = 0;

  bool is_whole() const { return lost.empty() && !is_end_unknown && !metadata_lost; }
};

struct RepairOptions {
  container::Progress progress = {};
  bool durable = true;
  OutputRule output = {.replace = Replace::never};
  ThreadPool* pool = nullptr;  // that of the process where null
};

// `corrupt` where no row can be saved, or the file never held records. Then, and on any other
// error, `path` is untouched.
Result<RepairReport> repair(const container::Source& source, const std::string& path,
                            const RepairOptions& options = {});

}  // namespace hoist::records
