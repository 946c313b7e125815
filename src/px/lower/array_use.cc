#include "px/lower/array_use.h"

#include <variant>

#include "ir/walk.h"

namespace hoist::px {

ArrayUse use_of(const ir::Kernel& kernel, const ir::Array* array) {
  ArrayUse use;
  ir::for_each_node(kernel.body, [&](const ir::Expression& node) {
    if (node.kind == ir::Expression::Kind::load && node.array == array) use.is_read = true;
  });
  ir::for_each_statement(kernel.body, [&](const ir::Statement& statement) {
    const auto* store = std::get_if<ir::Store>(&statement.node);
    if (store != nullptr && store->array == array) use.is_written = true;
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    if (atomic != nullptr && atomic->array == array) use.is_read = use.is_written = true;
  });
  return use;
}

}  // namespace hoist::px
