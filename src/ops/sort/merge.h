// Merging files of sorted lines: temporary runs after an external sort, or the files of sort -m.
//
// Where the files are regular ones the merge is cut into ranges of keys (ops/sort/cuts.h), which
// all threads merge at once. Otherwise one thread merges what it reads. With unique, the first of
// equal lines stays. Options (unique, terminator) are those of the coder's comparator.
//
// All functions append to `output` and leave finish() to the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "ops/sort/codes.h"
#include "ops/sort/cuts.h"
#include "ops/sort/output.h"
#include "ops/sort/reader.h"
#include "ops/sort/temp_files.h"

namespace hoist::sort {

struct MergeContext {
  const Coder& coder;
  ThreadPool& pool;
  uint64_t memory;  // bytes to get along with, as far as the length of lines allows
};

// Merges runs in their order, which decides between equal lines. Call output.begin() before.
Status merge_runs(std::span<Run> runs, const MergeContext& context, Output& output);

// Keeps the number of open runs below what descriptors (and, with compression, processes) allow:
// call after each new run. Merges the later runs into one when there are too many.
Status limit_runs(std::vector<Run>& runs, TempFiles& files, const MergeContext& context);

// Fails with `unsupported` for what sort -m leaves to the original: more files than the batch size,
// standard input twice, an output that is one of the inputs, too few descriptors. Opens nothing: a
// named pipe whose reader leaves, and comes back as the original, has lost what was written to it.
Status check_merge(const Options& options);

// sort -m: opens the files, begins the output, merges. The files need not be in order: the result
// is that of GNU sort, which always takes the smallest head. Call check_merge() before;
// `unsupported` where descriptors have become too few since and only regular files were opened.
Status merge_files(const MergeContext& context, Output& output);

// The two ways, for tests. merge_ranges() returns false, having done nothing, where the files
// cannot be cut well. `trusted`: the files are known to be in order.
Status merge_lines(std::span<LineReader> readers, const Coder& coder, Output& output,
                   std::optional<std::string> previous = {});
Result<bool> merge_ranges(std::span<const FileRange> files, bool trusted, uint64_t range_bytes,
                          const MergeContext& context, Output& output);

}  // namespace hoist::sort
