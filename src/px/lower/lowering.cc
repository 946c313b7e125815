#include "px/lower/lowering.h"

#include "base/nearest_word.h"

namespace hoist::px {

std::string Lowering::text(Span span) const {
  constexpr size_t kMost = 40;
  std::string text(source.text(span));
  if (text.size() <= kMost && text.find('\n') == std::string::npos) return text;
  return "…";
}

std::optional<ir::Type> Lowering::type(const syntax::TypeName& name) {
  const std::optional<ir::Type> found = find_type(name.scalar);
  if (found) return found;
  const std::string nearest = nearest_word(name.scalar, type_names());
  error(name.span, fmt::format("no type {}", name.scalar),
        nearest.empty() ? "write bool, i8 to i64, u8 to u64, f16, bf16, f32 or f64"
                        : fmt::format("is it {}?", nearest));
  return std::nullopt;
}

Symbol* Lowering::declare(const syntax::Name& name, Symbol symbol) {
  symbol.declared = name.span;
  if (is_builtin_name(name.text)) {
    error(name.span,
          fmt::format("{} would hide the {} of that name", name.text,
                      find_type(name.text) ? "type" : "function"),
          fmt::format("choose another name: {}_value, say", name.text));
    scopes.add(name.text, {.declared = name.span});
    return nullptr;
  }
  if (const Symbol* there = scopes.find_here(name.text)) {
    error(name.span,
          fmt::format("{} is declared already, on line {}", name.text, line(there->declared)),
          there->kind == Symbol::Kind::variable && !there->is_loop
              ? fmt::format("declare it by LET {} type = … there, and → {} sets it again",
                            name.text, name.text)
              : "choose another name");
    return nullptr;
  }
  return &scopes.add(name.text, symbol);
}

Symbol* Lowering::find(const std::string& name, Span span) {
  Symbol* found = scopes.find(name);
  if (found != nullptr) {
    found->is_used = true;
    return found->kind == Symbol::Kind::failed ? nullptr : found;
  }
  if (forgives_unknown_names) return nullptr;
  const std::string nearest = diagnostics.is_full() ? "" : nearest_word(name, scopes.names());
  error(span, fmt::format("no name {}", name),
        !nearest.empty() ? fmt::format("is it {}?", nearest)
        : is_host        ? "name a CONST, or a scalar parameter of a kernel that is launched"
                         : fmt::format("declare it before: LET {} type = value", name));
  return nullptr;
}

}  // namespace hoist::px
