#include "px/emit/cpp_kernel.h"

#include <fmt/core.h>

#include "ir/walk.h"
#include "px/emit/cpp.h"

namespace hoist::px {
namespace {

bool has_local_arrays(const std::deque<ir::Array>& arrays) {
  for (const ir::Array& array : arrays) {
    if (array.space == ir::Space::local) return true;
  }
  return false;
}

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string pointer_type(const ir::Array& array) {
  const bool is_const = array.direction == ir::Direction::in;
  return (is_const ? "const " : "") + element_name(array.element);
}

}  // namespace

std::set<std::pair<ir::Id, int>> used_ids(const ir::Kernel& kernel) {
  std::set<std::pair<ir::Id, int>> ids;
  ir::for_each_node(kernel.body, [&](const ir::Expression& e) {
    if (e.kind == ir::Expression::Kind::id) ids.emplace(e.id(), e.dimension);
  });
  return ids;
}

std::string cpp_parameters(const ir::Kernel& kernel, const Names& names) {
  std::string list;
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (argument.array) {
      const std::string& name = names.of(argument.array);
      append(list, fmt::format("{}* {}{}, const i64 {}_length", pointer_type(*argument.array),
                               argument.array->may_be_another ? "" : "__restrict ", name, name));
    } else {
      append(list, fmt::format("const {} {}", type_name(argument.scalar->type),
                               names.of(argument.scalar)));
    }
  }
  return list;
}

std::string cpp_arguments(const ir::Kernel& kernel) {
  std::string list;
  int number = 0;
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (argument.array) {
      append(list, fmt::format("array<{}>(grid, {}), i64(grid.lengths[{}])",
                               pointer_type(*argument.array), number, number));
    } else {
      append(list, fmt::format("scalar<{}>(grid, {})", type_name(argument.scalar->type), number));
    }
    ++number;
  }
  return list;
}

void begin_entry(const ir::Kernel& kernel, Lines& entries) {
  entries.begin(
      fmt::format("extern \"C\" void {}(const px::launch* launch, unsigned long long begin,\n"
                  "                unsigned long long end)",
                  cpp_entry_name(kernel)));
  entries.add("using namespace px;");
  entries.add("const px::launch& grid = *launch;");
}

bool returns_in_loop(std::span<const ir::Statement> block) {
  bool found = false;
  const auto search = [&](const ir::Block& body) {
    ir::for_each_statement(body, [&](const ir::Statement& statement) {
      found |= std::holds_alternative<ir::Return>(statement.node);
    });
  };
  ir::for_each_statement(block, [&](const ir::Statement& statement) {
    if (const auto* loop = std::get_if<ir::For>(&statement.node)) search(loop->body);
    if (const auto* loop = std::get_if<ir::While>(&statement.node)) search(loop->body);
  });
  return found;
}

bool is_independent(const ir::Kernel& kernel) {
  bool is = !has_local_arrays(kernel.arrays);
  ir::for_each_node(kernel.body, [&](const ir::Expression& e) {
    if (e.type.is_vector() || (e.function && has_local_arrays(e.function->arrays))) is = false;
  });
  ir::for_each_statement(kernel.body, [&](const ir::Statement& statement) {
    if (std::holds_alternative<ir::Atomic>(statement.node)) is = false;
  });
  return is;
}

std::string CppBody::id(ir::Id id, int dimension) const {
  if (id == ir::Id::lane) return "lane";
  constexpr const char* kNames[] = {"thread", "block", "local", "block_size", "grid_size"};
  return fmt::format("{}_{}", kNames[static_cast<int>(id)], "xyz"[dimension]);
}

void CppBody::declare_sizes(const std::set<std::pair<ir::Id, int>>& ids) {
  for (const auto& [which, dimension] : ids) {
    if (which != ir::Id::block_size && which != ir::Id::grid_size) continue;
    lines_.add("const i32 {} = i32(grid.{}[{}]);", id(which, dimension),
               which == ir::Id::grid_size ? "blocks" : "threads", dimension);
  }
}

}  // namespace hoist::px
