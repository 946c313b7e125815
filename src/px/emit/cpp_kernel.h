// What the two forms of a CPU kernel (px/emit/cpp_row.h, px/emit/cpp_block.h) have in common.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "px/emit/body.h"

namespace hoist::px {

// Ids that the kernel asks for, with their dimension.
std::set<std::pair<ir::Id, int>> used_ids(const ir::Kernel& kernel);

// "const f32* __restrict v_x, i64 v_x_length, …": what the kernel's function takes.
std::string cpp_parameters(const ir::Kernel& kernel, const Names& names);
// What the entry gives it, from `launch`.
std::string cpp_arguments(const ir::Kernel& kernel);

// Down to the open brace; `grid` is the launch.
void begin_entry(const ir::Kernel& kernel, Lines& entries);

// Whether a thread may return from within a loop.
bool returns_in_loop(std::span<const ir::Statement> block);

// Whether C++ compilers may be told that the threads of a loop do not depend on one another: not
// where they use one place of memory one after another.
bool is_independent(const ir::Kernel& kernel);

class CppBody : public Body {
 public:
  using Body::Body;

  std::string id(ir::Id id, int dimension) const override;

 protected:
  std::string atomics(const ir::Array* array) const override {
    return array->space == ir::Space::shared ? "in_shared" : "in_global";
  }
  // block_size_x and the like, where they are asked for.
  void declare_sizes(const std::set<std::pair<ir::Id, int>>& ids);
};

}  // namespace hoist::px
