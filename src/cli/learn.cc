#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/conformance.h"
#include "cli/program_file.h"
#include "cli/report.h"
#include "cli/tree.h"
#include "takeover/takeover.h"

namespace hoist::cli {
namespace {

struct Examination {
  Subject subject;
  std::string build_id;
  std::vector<CaseResult> results;
  bool learnt = false;

  size_t by_engine() const {
    return static_cast<size_t>(std::count_if(
        results.begin(), results.end(), [](const CaseResult& result) { return result.by_engine; }));
  }
  size_t different() const {
    return static_cast<size_t>(
        std::count_if(results.begin(), results.end(),
                      [](const CaseResult& result) { return !result.difference.empty(); }));
  }
};

Result<Examination> examine(const std::string& path) {
  const std::string found = find_program(path);
  if (found.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no program {} (learn-program): give the path of one", path));
  }
  Examination examination;
  std::error_code error;
  examination.subject.path = std::filesystem::canonical(found, error);
  if (error) {
    return fail(ErrorCode::io, fmt::format("cannot find {} ({})", found, error.message()));
  }
  Result<std::string> build_id = read_build_id(examination.subject.path);
  if (!build_id) return build_id.error();
  examination.build_id = std::move(*build_id);
  Result<KnownBuild> build = ask_version(examination.subject.path);
  if (!build) return build.error();
  examination.subject.build = std::move(*build);
  examination.subject.engine = engine_path(operation_of(examination.subject.build.program));
  if (::access(examination.subject.engine.c_str(), X_OK) != 0) {
    return fail(ErrorCode::unavailable, fmt::format("the engine is missing ({}): install Hoist "
                                                    "again",
                                                    examination.subject.engine));
  }
  Result<std::vector<CaseResult>> results = check_conformance(examination.subject);
  if (!results) return results.error();
  examination.results = std::move(*results);
  return examination;
}

// A build that the engine leaves to the original in every case is one that it does not handle.
Status learn(Examination& examination) {
  if (examination.by_engine() == 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("the engine left every case to the original ({} {}): this version is "
                            "not supported",
                            examination.subject.build.program, examination.subject.build.version));
  }
  Status done = learn_build(examination.build_id, examination.subject.build);
  examination.learnt = done.has_value();
  return done;
}

void print_json(const Examination& examination) {
  using Json = nlohmann::ordered_json;
  Json differences = Json::array();
  for (const CaseResult& result : examination.results) {
    if (result.difference.empty()) continue;
    differences.push_back({{"command", result.command}, {"difference", result.difference}});
  }
  const Subject& subject = examination.subject;
  const Json report = {{"path", subject.path},
                       {"program", subject.build.program},
                       {"package", subject.build.package},
                       {"version", subject.build.version},
                       {"build_id", examination.build_id},
                       {"cases", examination.results.size()},
                       {"by_engine", examination.by_engine()},
                       {"differences", std::move(differences)},
                       {"learnt", examination.learnt}};
  fmt::print("{}\n", report.dump(2, ' ', true, Json::error_handler_t::replace));
}

void print_text(const Examination& examination) {
  for (const CaseResult& result : examination.results) {
    if (result.difference.empty()) continue;
    fmt::print("{}: {} differs\n", result.command, result.difference);
  }
  const Subject& subject = examination.subject;
  fmt::print("{}: {} ({} {}), build-id {}: {} cases, {} on the engine, {} different{}\n",
             subject.path, subject.build.program, subject.build.package, subject.build.version,
             examination.build_id, examination.results.size(), examination.by_engine(),
             examination.different(), examination.learnt ? ": learnt" : "");
}

}  // namespace

int learn_command(const LearnOptions& options) {
  Result<Examination> examination = examine(options.path);
  if (!examination) return report(examination.error());
  const bool same = examination->different() == 0;
  Status done;
  if (same && !options.check) done = learn(*examination);
  options.json ? print_json(*examination) : print_text(*examination);
  if (!done) return report(done.error());
  return same ? kDone : kFailed;
}

}  // namespace hoist::cli
