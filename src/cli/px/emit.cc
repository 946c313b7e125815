#include <fmt/core.h>

#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"
#include "ir/print.h"
#include "px/parser.h"

namespace hoist::cli {
namespace {

Result<bool> emit_tree(const std::string& path) {
  const Result<px::Source> source = read_px(path);
  if (!source) return source.error();
  px::Diagnostics diagnostics;
  const px::syntax::File file = px::parse(*source, diagnostics);
  print(*source, diagnostics);
  if (diagnostics.has_errors()) return false;
  fmt::print("{}", px::syntax::print(file));
  return true;
}

Result<std::string> text_of(const std::string& stage, const px::Lowered& lowered) {
  if (stage == "ir") return ir::text_of(lowered.module);
  return fail(ErrorCode::invalid_argument, fmt::format("no stage {}", stage));
}

}  // namespace

int px_emit(const PxEmitOptions& options) {
  if (options.stage == "ast") {
    const Result<bool> emitted = emit_tree(options.file);
    if (!emitted) return report(emitted.error());
    return *emitted ? kDone : kFailed;
  }
  const Result<PxFile> file = load_px(options.file);
  if (!file) return report(file.error());
  if (!file->lowered) return kFailed;
  const Result<std::string> text = text_of(options.stage, *file->lowered);
  if (!text) return report(text.error());
  fmt::print("{}", *text);
  return kDone;
}

}  // namespace hoist::cli
