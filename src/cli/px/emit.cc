#include <fmt/core.h>

#include <algorithm>

#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"
#include "ir/print.h"
#include "px/compile/gpu_module.h"
#include "px/compile/nvrtc.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"
#include "px/syntax/parser.h"

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

Result<std::string> ptx_of(const ir::Module& module, bool check_bounds) {
  const std::string cuda = px::emit_cuda(module, check_bounds).text;
  const auto code = px::compile_cuda(cuda, "compute_80", px::cuda_options(ir::kMostThreads));
  if (!code) return code.error();
  std::string text(reinterpret_cast<const char*>(code->data()), code->size());
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

Result<std::string> text_of(const PxEmitOptions& options, const ir::Module& module) {
  if (options.stage == "ir") return ir::text_of(module);
  if (options.stage == "cpp") return px::emit_cpp(module, options.check_bounds).text;
  if (options.stage == "cuda") return px::emit_cuda(module, options.check_bounds).text;
  return ptx_of(module, options.check_bounds);
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
  const Result<std::string> text = text_of(options, file->lowered->module);
  if (!text) return report(text.error());
  fmt::print("{}", *text);
  return kDone;
}

}  // namespace hoist::cli
