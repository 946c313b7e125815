#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

nlohmann::ordered_json as_json(const px::Source& source, const px::Diagnostic& diagnostic) {
  const px::Position at = source.position(diagnostic.span.begin);
  return {{"file", source.name()},
          {"line", at.line},
          {"column", at.column},
          {"severity", diagnostic.severity == px::Severity::error ? "error" : "warning"},
          {"what", diagnostic.what},
          {"mend", diagnostic.mend}};
}

}  // namespace

int px_check(const PxCheckOptions& options) {
  int status = kDone;
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const std::string& path : options.files) {
    const Result<px::Source> source = read_px(path);
    if (!source) return report(source.error());
    px::Diagnostics diagnostics;
    (void)px::read(*source, diagnostics);
    if (diagnostics.has_errors()) status = kFailed;
    if (!options.json) print(*source, diagnostics);
    for (const px::Diagnostic& diagnostic : diagnostics.sorted()) {
      list.push_back(as_json(*source, diagnostic));
    }
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return status;
}

}  // namespace hoist::cli
