// The commands of `hoist px`. They take what the command line said (main.cc), do the work and give
// the exit status.
#pragma once

#include <string>
#include <vector>

namespace hoist::cli {

struct PxCheckOptions {
  std::vector<std::string> files;
  bool json = false;
};
int px_check(const PxCheckOptions& options);

struct PxFormatOptions {
  std::vector<std::string> files;
  bool check = false;  // only say which would change
};
int px_format(const PxFormatOptions& options);

struct PxEmitOptions {
  std::string file;
  std::string stage;
  bool check_bounds = false;
};
int px_emit(const PxEmitOptions& options);

struct PxBuildOptions {
  std::string file;
  std::string folder = ".";
  bool library = false;  // NAME.cc compiled, too
  bool force = false;
};
int px_build(const PxBuildOptions& options);

struct PxRunOptions {
  std::string file;
  std::vector<std::string> inputs;   // array=file
  std::vector<std::string> outputs;  // array=file
  std::vector<std::string> scalars;  // name=value
  std::vector<std::string> lengths;  // array=elements
  std::string target = "auto";
  bool check_bounds = true;
  bool time = false;
  bool explain = false;  // only say where it would run
  bool json = false;
  bool force = false;
};
int px_run(const PxRunOptions& options);

}  // namespace hoist::cli
