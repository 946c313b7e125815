#include "px/compile_text.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "px/lower/lower.h"

namespace hoist::px {
namespace {

std::vector<Message> messages_of(const Source& source, const Diagnostics& diagnostics) {
  std::vector<Message> messages;
  for (Diagnostic& diagnostic : diagnostics.sorted()) {
    const Position at = source.position(diagnostic.span.begin);
    messages.push_back({diagnostic.severity == Severity::error, at.line, at.column,
                        std::move(diagnostic.what), std::move(diagnostic.mend)});
  }
  return messages;
}

}  // namespace

Result<Lowered> read_text(std::string_view text, const std::string& name,
                          std::vector<Message>* messages) {
  if (messages) messages->clear();
  if (text.size() > Source::kMostBytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("{} is larger than {} bytes: split it", name, Source::kMostBytes));
  }
  const Source source(name, std::string(text));
  Diagnostics diagnostics;
  std::optional<Lowered> lowered = read(source, diagnostics);
  if (messages) *messages = messages_of(source, diagnostics);
  if (lowered) return *std::move(lowered);
  std::string all = render(source, diagnostics);
  if (all.ends_with('\n')) all.pop_back();
  return fail(ErrorCode::invalid_argument, std::move(all));
}

Result<Program> compile_text(std::string_view text, const ProgramOptions& options,
                             const std::string& name, std::vector<Message>* messages) {
  Result<Lowered> lowered = read_text(text, name, messages);
  if (!lowered) return lowered.error();
  return Program::build(std::move(lowered->module), options);
}

}  // namespace hoist::px
