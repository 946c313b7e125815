#include "cli/tool.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/log.h"
#include "cli/command_name.h"
#include "cli/describe.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<int()>& command) {
  if (argc == 2 && std::string_view(argv[1]) == kDescribe) {
    fmt::print("{}\n", describe(app));
    return kDone;
  }
  const std::string known = fmt::format("{} has {}", app.get_name(), command_names(app));
  if (Status named = check_command(app, argc > 1 ? argv[1] : "", known); !named) {
    return report(named.error());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kDone;
  } catch (const CLI::ParseError& error) {
    return report(usage_error(app, error));
  }
  warn_of_unusable_values();
  return command();
}

}  // namespace

int run_tool(CLI::App& app, int argc, char** argv, const std::function<int()>& command) {
  log_to_stderr();
  try {
    const int status = parse_and_run(app, argc, argv, command);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    if (errno != 0) {
      return report({ErrorCode::io, std::string("cannot write (standard output: ") +
                                        std::strerror(errno) + "): choose another place"});
    }
  } catch (const std::bad_alloc&) {
    return report({ErrorCode::exhausted,
                   "out of memory: free some, or let it use fewer threads (HOIST_THREADS=1)"});
  } catch (const std::exception& error) {  // standard output takes no more
    return report({ErrorCode::io, error.what()});
  }
  return report({ErrorCode::io, "cannot write (standard output): is it full?"});
}

}  // namespace hoist::cli
