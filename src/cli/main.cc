#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/command_line.h"
#include "cli/report.h"

int main(int argc, char** argv) {
  hoist::log_to_stderr();
  try {
    const int status =
        hoist::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  } catch (const std::exception& error) {  // out of memory, or standard output takes no more
    return hoist::cli::report({hoist::ErrorCode::io, error.what()});
  }
  return hoist::cli::report({hoist::ErrorCode::io, "cannot write (standard output): is it full?"});
}
