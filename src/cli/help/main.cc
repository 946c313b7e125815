// libexec/hoist/hoist-help GUIDE.md [--no-pager]: what `hoist help TOPIC` becomes (cli/help.cc).
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cli/help/pager.h"
#include "cli/help/terminal_page.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostColumns = 100;  // longer lines are hard to read

size_t terminal_width() {
  struct winsize size = {};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::min<size_t>(size.ws_col, kMostColumns) : 80;
}

// https://no-color.org; a dumb terminal shows escape sequences as they are.
bool shows_bold() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// Guides by the command that shows them, other pages by their path.
std::string target_of(const fs::path& guide, std::string_view link) {
  if (link.starts_with("https:") || link.starts_with("http:")) return std::string(link);
  const std::string_view file = link.substr(0, link.find('#'));
  if (file.empty()) return {};
  const fs::path path = (guide.parent_path() / file).lexically_normal();
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (path.parent_path() == guide.parent_path()) return "hoist help " + path.stem().string();
  return path;
}

int show(const std::string& path, bool no_pager) {
  std::ifstream file(path);
  const std::string markdown(std::istreambuf_iterator<char>(file), {});
  if (markdown.empty()) {
    return report(
        {ErrorCode::unavailable,
         fmt::format("cannot read a guide ({}): install Hoist again, with its share/doc", path)});
  }
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const fs::path guide = fs::canonical(path);
  PageStyle style;
  style.width = is_terminal ? terminal_width() : 80;
  style.has_bold = is_terminal && shows_bold();
  style.target = [&guide](std::string_view link) { return target_of(guide, link); };
  const Result<std::string> page = terminal_page(markdown, style);
  if (!page) return report(page.error());
  const Status shown = page_through(is_terminal && !no_pager ? pager_command() : "", *page);
  return shown ? kDone : report(shown.error());
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Shows a guide", argv[0]);
  std::string path;
  bool no_pager = false;
  app.add_option("GUIDE", path)->required();
  app.add_flag("--no-pager", no_pager);
  return run_tool(app, argc, argv, [&] { return show(path, no_pager); });
}
