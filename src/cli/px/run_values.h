// What `hoist px run` gives a file: its scalars and arrays, from the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/array_file.h"
#include "cli/px/commands.h"
#include "px/host/run_host.h"
#include "px/lower/lower.h"

namespace hoist::cli {

// Owns the arrays that HostValues points to.
struct RunValues {
  px::HostValues values;
  std::map<const px::HostArray*, ArrayContent> contents;
};

// The files that the command reads.
std::vector<std::string> input_files(const PxRunOptions& options);

// Reads the inputs and checks that nothing lacks. An array that is neither given by --in nor by
// --len is as long as the first input, and zero.
Result<RunValues> read_values(const PxRunOptions& options, const px::HostProgram& host);

// "c=y.npy" as array and file.
struct ArrayFileName {
  const px::HostArray* array;
  std::string file;
};
Result<std::vector<ArrayFileName>> output_files(const PxRunOptions& options,
                                                const px::HostProgram& host);

}  // namespace hoist::cli
