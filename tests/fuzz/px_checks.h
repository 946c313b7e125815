// What must hold of px for any text: it never crashes, every diagnostic can be shown, what parses
// is laid out to a text that is its own layout and means the same, and what has no errors can be
// emitted and interpreted.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/print.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"
#include "px/lower/lower.h"
#include "px/syntax/format.h"
#include "px/syntax/parser.h"

namespace hoist::px {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::string tree_of(const Source& source) {
  Diagnostics diagnostics;
  const syntax::File file = parse(source, diagnostics);
  require(!diagnostics.has_errors());
  return print(file);
}

inline std::string meaning_of(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  require(lowered.has_value() != diagnostics.has_errors());
  require(render(source, diagnostics).empty() == diagnostics.sorted().empty());
  return lowered ? ir::text_of(lowered->module) : std::string();
}

// Each kernel on small arrays, for a while.
inline void run_kernels(const ir::Module& module) {
  for (const auto& kernel : module.kernels()) {
    std::vector<std::array<uint64_t, 64>> arrays(kernel->arguments.size());
    std::vector<ir::Argument> arguments;
    for (size_t i = 0; i < arrays.size(); ++i) {
      arrays[i].fill(3);
      arguments.push_back(kernel->arguments[i].array ? ir::Argument::array(arrays[i].data(), 20)
                                                     : ir::Argument::scalar(5));
    }
    const ir::Grid grid{.blocks = {2, 1, 1}, .threads = {3, 2, 1}};
    (void)ir::interpret(*kernel, grid, arguments, {.most_steps = 5000});
  }
}

inline void use(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  if (!lowered) return;
  for (const bool check_bounds : {false, true}) {
    require(!emit_cpp(lowered->module, check_bounds).text.empty());
    require(!emit_cuda(lowered->module, check_bounds).text.empty());
  }
  run_kernels(lowered->module);
}

inline void check_text(std::string text) {
  const Source source("k.px", std::move(text));
  const std::string meaning = meaning_of(source);
  Diagnostics diagnostics;
  (void)parse(source, diagnostics);
  if (diagnostics.has_errors()) return;
  const Source laid_out("k.px", format(source));
  require(format(laid_out) == laid_out.text());
  require(tree_of(laid_out) == tree_of(source));
  require(meaning_of(laid_out) == meaning);
  use(source);
}

}  // namespace hoist::px
