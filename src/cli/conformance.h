// The conformance matrix: does our engine answer as this build of a program does? Each case runs
// twice in a scratch directory, the original and the engine; standard output, standard error, exit
// status and the files left behind must be the same.
//
//   auto results = check_conformance({"/usr/bin/sort", {"sort", "coreutils", "9.1"}, engine});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/program_file.h"

namespace hoist::cli {

struct InputFile {
  // What becomes of `content` on its way into the file; `gzip…` compress it with the original.
  enum class Form { plain, gzip, gzip_truncated, gzip_damaged, gzip_with_garbage, gzip_twice };

  std::string name;
  std::string content;
  Form form = Form::plain;
};

struct ConformanceCase {
  std::vector<std::string> arguments;
  std::string locale;               // LC_ALL
  std::string standard_input_from;  // the name of an input file; empty: /dev/null
};

struct ConformanceMatrix {
  std::vector<InputFile> files;  // in the directory where every case starts
  std::vector<ConformanceCase> cases;
};

// The matrix for "sort", "sha256sum", "gzip"…; empty for a program that is not known.
ConformanceMatrix conformance_matrix(const std::string& program);

struct Subject {
  std::string path;  // of the original, absolute
  KnownBuild build;
  std::string engine;  // path of the engine, absolute
};

struct CaseResult {
  std::string command;     // "sort -k2,2n text"
  bool by_engine = false;  // false: the engine stepped aside, which is right by construction
  std::string difference;  // "standard output", "exit status", …; empty: the same
};

// Runs all cases for subject.build.program. Fails only where the matrix itself cannot run.
Result<std::vector<CaseResult>> check_conformance(const Subject& subject);

}  // namespace hoist::cli
