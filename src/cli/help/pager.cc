#include "cli/help/pager.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace hoist::cli {
namespace {

constexpr int kNotFound = 127;  // what a shell ends with

Status print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return fail(ErrorCode::io, "cannot write (standard output): is it full?", errno);
}

}  // namespace

std::string pager_command() {
  if (const char* named = std::getenv("PAGER"); named != nullptr) return named;
  return "if command -v less >/dev/null; then less; elif command -v more >/dev/null; then more; "
         "else exit 127; fi";
}

Status page_through(const std::string& command, const std::string& text) {
  if (command.empty()) return print(text);
  // Less shows bold text, and ends by itself where all fits on the screen.
  ::setenv("LESS", "FRX", /*replace=*/0);
  std::FILE* const pager = ::popen(command.c_str(), "w");
  if (pager == nullptr) return print(text);
  // Ctrl-C and an early end are between the reader and the pager, which has its own handlers.
  const auto interrupted = ::signal(SIGINT, SIG_IGN);
  const auto broken = ::signal(SIGPIPE, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), pager);
  const int status = ::pclose(pager);
  ::signal(SIGINT, interrupted);
  ::signal(SIGPIPE, broken);
  const bool was_found = !WIFEXITED(status) || WEXITSTATUS(status) != kNotFound;
  return was_found ? Status() : print(text);
}

}  // namespace hoist::cli
