#include "px/emit/cpp.h"

#include <fmt/core.h>

#include "px/emit/body.h"
#include "px/emit/cpp_block.h"
#include "px/emit/cpp_row.h"
#include "px/emit/names.h"
#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

bool works_together(const ir::Kernel& kernel) {
  for (const ir::Array& array : kernel.arrays) {
    if (array.space == ir::Space::shared) return true;
  }
  return ir::has_collective(kernel.body);
}

}  // namespace

std::string cpp_entry_name(const ir::Kernel& kernel) {
  return "px_kernel_" + identifier(kernel.name);
}

Code emit_cpp(const ir::Module& module, bool check_bounds) {
  Sites all;
  Sites* const sites = check_bounds ? &all : nullptr;
  Lines kernels, entries;
  const Names names(module);
  for (const ir::Array& table : module.tables()) {
    kernels.add("{}{};", array_declaration(table, "constexpr ", names), table_initialiser(table));
    kernels.blank();
  }
  emit_functions(module, sites, kernels);
  for (const auto& kernel : module.kernels()) {
    (works_together(*kernel) ? emit_block_kernel : emit_row_kernel)(module, *kernel, sites, kernels,
                                                                    entries);
  }
  return {types_text() + operators_text() + functions_text() + cpu_prelude_text() +
              "\nnamespace px {\nnamespace {\n\n" + kernels.take() +
              "}  // namespace\n}  // namespace px\n\n" + entries.take(),
          all.list()};
}

}  // namespace hoist::px
