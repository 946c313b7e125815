// Command line of gzip as far as it asks for decompression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hoist::gunzip {

struct Options {
  bool to_stdout = false;  // also under test and list
  bool test = false;
  bool list = false;
  bool force = false;
  bool keep = false;
  bool recursive = false;
  bool quiet = false;
  bool verbose = false;
  bool restore_name = false;  // -N; later -n and --no-name take it back
  std::string suffix = ".gz";
  std::vector<std::string> operands;
};

struct ParsedOptions {
  Options options;
  std::string_view unsupported;  // why the original must do it; empty where we can
};

// `program` is "gzip", or "gunzip" or "zcat" where the engine stands in for those scripts. gzip
// itself does not look at its name.
ParsedOptions parse_options(std::string_view program, const std::vector<std::string>& argv);

// The same request for other operands, as arguments for the original.
std::vector<std::string> to_arguments(const std::string& program, const Options& options,
                                      const std::vector<std::string>& operands);

}  // namespace hoist::gunzip
