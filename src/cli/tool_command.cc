#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/tree.h"

namespace hoist::cli {
namespace {

struct Tool {
  const char* name;
  const char* description;
};
constexpr Tool kTools[] = {
    {"tune", "Measure what runs fastest where on this machine"},
    {"explain", "Say what placement chooses for an operation, and why"},
    {"container", "Look into, verify or repair a container file"},
    {"match", "Search exactly for similar patterns: build, query, learn, dedup"},
    {"px", "Kernels written once, for CPU and GPU: check, run, build"},
    {"graph", "Tensor programs: show, run; circuits: canonical texts, bytes"},
    {"tensors", "Pack model weights so that they load progressively, and back"},
    {"records", "Encode text of records into columns, and back"},
    {"bench", "Measure the parts of Hoist beside their peers"},
};

}  // namespace

bool is_tool_command(const std::string& name) {
  return std::any_of(std::begin(kTools), std::end(kTools),
                     [&](const Tool& tool) { return name == tool.name; });
}

std::vector<std::pair<std::string, std::string>> tool_commands() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const Tool& tool : kTools) list.emplace_back(tool.name, tool.description);
  return list;
}

int tool_command(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string path = engine_path(name);
  const std::string shown = "hoist " + name;
  std::vector<char*> argv = {const_cast<char*>(shown.c_str())};
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  return report({ErrorCode::unavailable, fmt::format("cannot start {} ({}): install Hoist whole",
                                                     shown, path + ": " + std::strerror(errno))});
}

}  // namespace hoist::cli
