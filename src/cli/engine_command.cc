#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/counters_layout.h"
#include "base/options.h"
#include "cli/commands.h"
#include "cli/program_file.h"
#include "cli/report.h"
#include "cli/tree.h"
#include "takeover/enabled_operations.h"
#include "takeover/programs.h"
#include "takeover/takeover.h"

namespace hoist::cli {
namespace {

// What the shell scripts gunzip and zcat start, as their gzip package ships them.
struct Script {
  const char* name;
  const char* options;
};
constexpr Script kScripts[] = {{"gunzip", "-d"}, {"zcat", "-cd"}};

const Script* find_script(const std::string& name) {
  const auto* found = std::find_if(std::begin(kScripts), std::end(kScripts),
                                   [&](const Script& script) { return name == script.name; });
  return found != std::end(kScripts) ? found : nullptr;
}

void execute(const std::string& file, const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(file.c_str(), argv.data());
}

// The original with Hoist off. Returns only where there is none.
int execute_original(const std::string& name, const std::vector<std::string>& words,
                     std::string_view reason) {
  const std::string original = find_original(name);
  if (!original.empty()) execute(original, words);
  return report({ErrorCode::unavailable,
                 fmt::format("cannot start the original {} ({}): install it", name, reason)});
}

// Tells the engine which build it stands for, so that its messages are that build's.
void announce(const std::string& program) {
  const std::string original = find_original(program);
  if (!original.starts_with('/')) return;
  const Result<std::string> build_id = read_build_id(original);
  const std::optional<KnownBuild> build = build_id ? find_build(*build_id) : std::nullopt;
  if (!build || build->program != program) return;
  const std::string value =
      fmt::format("{}:{}:{}:{}", program, build->package, build->version, original);
  ::setenv(HOIST_TAKEOVER_ENV, value.c_str(), 1);
}

}  // namespace

bool is_engine_command(const std::string& name) {
  return hoist_find_program(name.c_str()) != nullptr || find_script(name) != nullptr;
}

std::vector<std::pair<std::string, std::string>> engine_commands() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const hoist_program& program : kHoistPrograms) {
    list.emplace_back(program.name, fmt::format("The engine that replaces {}", program.name));
  }
  for (const Script& script : kScripts) {
    list.emplace_back(script.name, fmt::format("gzip {}", script.options));
  }
  return list;
}

int engine_command(const std::string& name, const std::vector<std::string>& arguments) {
  const Script* const script = find_script(name);
  const std::string program = script != nullptr ? "gzip" : name;
  const std::string operation(operation_of(program));
  std::vector<std::string> words = {name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (hoist_is_off()) return execute_original(name, words, "HOIST=off");
  if (!operation_enabled(operation)) return execute_original(name, words, "HOIST_OPS");
  if (script != nullptr) {
    const bool asks_script =
        !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "--version");
    if (asks_script) return execute_original(name, words, arguments[0]);
    words[0] = program;
    words.insert(words.begin() + 1, script->options);
  }
  announce(program);
  execute(engine_path(operation), words);
  const std::string why = fmt::format("{}: {}", engine_path(operation), std::strerror(errno));
  ::unsetenv(HOIST_TAKEOVER_ENV);
  return execute_original(program, words, why);
}

}  // namespace hoist::cli
