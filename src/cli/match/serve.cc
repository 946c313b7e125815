#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/match/commands.h"
#include "cli/report.h"
#include "cli/tree.h"

namespace hoist::cli {

int match_serve(char** arguments) {
  const std::string program = engine_path("serve");
  arguments[0] = const_cast<char*>(program.c_str());
  ::execv(program.c_str(), arguments);
  return report(fail(ErrorCode::unavailable,
                     fmt::format("cannot start {}: {}", program, std::strerror(errno)), errno));
}

}  // namespace hoist::cli
