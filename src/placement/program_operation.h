// Operations that are whole programs: implementations `original` (the plain program), `cpu-1` and
// `cpu-all` (our engine with one thread and with all CPUs) and, where the engine can use a GPU,
// `cuda` (it opens one) and `hoistd` (it borrows one), measured by really running them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "placement/operation.h"

namespace hoist::placement {

struct ProgramVariant {
  std::string name;                      // "sha256sum-many"
  std::string program;                   // argv[0], and the original's name in PATH
  std::vector<std::string> arguments;    // before the names of the input files
  std::vector<std::string> environment;  // NAME=VALUE
  uint64_t items = 1;                    // files that the input is divided into
  // The content of input file `index`, `bytes` long (about that for compressed files).
  std::function<Result<std::string>(uint64_t bytes, uint64_t index)> content;
  uint64_t item_bytes = 0;  // not 0: into files of so many bytes instead
  bool may_use_gpu = true;  // where the engine can
};

// How an engine gets at a GPU, whether or not a hoistd runs today.
struct GpuAccess {
  std::function<Status()> find;  // whether there is one
  // Makes a hoistd answer at this socket for as long as the result lives, which says whether it
  // still does.
  std::function<Result<std::function<Status()>>(const std::string& socket)> lend;
  bool opens = true;  // one itself, too
};

// `engine` is the path of libexec/hoist/hoist-NAME. The defaults are the compiled-in rows of
// takeover/decisions.h for NAME/VARIANT. `gpu`: empty for an engine that can use none.
Operation make_program_operation(const std::string& name, std::vector<ProgramVariant> variants,
                                 const std::string& engine, const GpuAccess& gpu = {});

// A program's run to its end, with standard input empty and its output thrown away.
struct ProgramRun {
  std::string file;
  std::vector<std::string> words;        // argv
  std::vector<std::string> environment;  // added; Hoist's own variables and LD_PRELOAD are removed
};
// `unavailable` where it cannot be started, `internal` where it fails.
Status run_program(const ProgramRun& program);

}  // namespace hoist::placement
