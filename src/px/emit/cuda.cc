#include "px/emit/cuda.h"

#include <fmt/core.h>

#include "ir/arithmetic.h"
#include "ir/walk.h"
#include "px/emit/body.h"
#include "px/emit/cpp_kernel.h"
#include "px/emit/expression_text.h"
#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

// An array of a thread lies in registers only if all its indices are known when it is compiled.
constexpr int64_t kMostUnrolled = 64;  // turns

bool uses_local_array(const ir::Block& block) {
  bool uses = false;
  const auto look_at = [&](const ir::Array* array) {
    uses |= array != nullptr && array->space == ir::Space::local;
  };
  ir::for_each_node(block, [&](const ir::Expression& e) { look_at(e.array); });
  ir::for_each_statement(block, [&](const ir::Statement& statement) {
    if (const auto* store = std::get_if<ir::Store>(&statement.node)) look_at(store->array);
  });
  return uses;
}

bool is_unrolled(const ir::For& loop) {
  if (!loop.from->is_constant() || !loop.to->is_constant() || !loop.step->is_constant()) {
    return false;
  }
  const auto value = [](const ir::Expression& e) { return ir::integer_of(e.type.scalar, e.bits); };
  const int64_t step = value(*loop.step);
  const int64_t from = value(*loop.from);
  return step > 0 && from >= 0 && (value(*loop.to) - from) / step <= kMostUnrolled &&
         uses_local_array(loop.body);
}

class CudaBody : public Body {
 public:
  CudaBody(const ir::Kernel& kernel, Names& names, Sites* sites, Lines& lines)
      : Body(lines, names, sites), kernel_(kernel) {
    know_ranges(kernel, false);
  }

  void emit() {
    lines_.begin(
        fmt::format("extern \"C\" __global__ void __launch_bounds__(PX_MOST_THREADS)\n{}({})",
                    cuda_entry_name(kernel_), cuda_parameters(kernel_, names_, sites_)));
    for (const auto& [which, dimension] : used_ids(kernel_)) declare_id(which, dimension);
    if (ir::has_collective(kernel_.body)) lines_.add("const warp here = this_warp();");
    if (sites_) {
      lines_.add(
          "const checker check{{fault, {{blockIdx.x, blockIdx.y, blockIdx.z}}, {{threadIdx.x, "
          "threadIdx.y, threadIdx.z}}}};");
    }
    for (const ir::Array& array : kernel_.arrays) {
      if (array.space == ir::Space::shared) {
        lines_.add("{};", array_declaration(array, "__shared__ ", names_));
      } else if (array.space == ir::Space::local) {
        lines_.add("{};", array_declaration(array, "", names_));
      }
    }
    block(kernel_.body);
    lines_.end();
    lines_.blank();
  }

  std::string id(ir::Id id, int dimension) const override {
    if (id == ir::Id::lane) return "lane";
    constexpr const char* kNames[] = {"thread", "block", "local", "block_size", "grid_size"};
    return fmt::format("{}_{}", kNames[static_cast<int>(id)], "xyz"[dimension]);
  }

 protected:
  void statement(const ir::Statement& statement) override {
    const auto* loop = std::get_if<ir::For>(&statement.node);
    if (loop != nullptr && is_unrolled(*loop)) lines_.add("#pragma unroll");
    Body::statement(statement);
  }
  void return_thread(bool) override { lines_.add("return;"); }
  std::string atomics(const ir::Array*) const override { return "atomic"; }

  void collective(const ir::Statement& statement) override {
    ir::match(
        statement, [&](const ir::Barrier&) { lines_.add("__syncthreads();"); },
        [&](const ir::Shuffle& s) { shuffle(s); },
        [&](const ir::Ballot& s) {
          declare(s.result, fmt::format("__ballot_sync(here.mask, {})", text(s.condition)));
        },
        [&](const ir::Reduce& s) {
          const std::string op = combination(s.op, type_name(s.value->type));
          declare(s.result, s.scope == ir::Reduce::Scope::block
                                ? fmt::format("reduce_block(here, {}, {})", text(s.value), op)
                                : fmt::format("here.reduce({}, {})", text(s.value), op));
        },
        [](const auto&) {});
  }

 private:
  void declare_id(ir::Id which, int d) {
    const char axis = "xyz"[d];
    std::string value;
    switch (which) {
      case ir::Id::thread:
        value = fmt::format("blockIdx.{0} * blockDim.{0} + threadIdx.{0}", axis);
        break;
      case ir::Id::block:
        value = fmt::format("blockIdx.{}", axis);
        break;
      case ir::Id::local:
        value = fmt::format("threadIdx.{}", axis);
        break;
      case ir::Id::block_size:
        value = fmt::format("blockDim.{}", axis);
        break;
      case ir::Id::grid_size:
        value = fmt::format("gridDim.{}", axis);
        break;
      case ir::Id::lane:
        value = "place_in_block() % 32";
        break;
    }
    lines_.add("const i32 {} = i32({});", id(which, d), value);
  }

  void shuffle(const ir::Shuffle& s) {
    const std::string lane = shuffle_lane(s.kind, "here.lane", text(s.amount));
    declare(s.result, fmt::format("here.from({}, {})", text(s.value), lane));
  }

  const ir::Kernel& kernel_;
};

}  // namespace

std::string cuda_entry_name(const ir::Kernel& kernel) {
  return "px_kernel_" + identifier(kernel.name);
}

std::string cuda_parameters(const ir::Kernel& kernel, const Names& names, bool has_fault) {
  // What one thread writes and another one reads behind a barrier is no memory of one pointer's
  // alone: the compiler would load it before the barrier.
  bool has_barrier = false;
  ir::for_each_statement(kernel.body, [&](const ir::Statement& statement) {
    has_barrier |= std::holds_alternative<ir::Barrier>(statement.node);
  });
  std::string list;
  const auto append = [&](const std::string& item) {
    if (!list.empty()) list += ", ";
    list += item;
  };
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (argument.array) {
      const std::string& name = names.of(argument.array);
      const bool is_const = argument.array->direction == ir::Direction::in;
      const bool is_shared = has_barrier && argument.array->direction == ir::Direction::inout;
      const bool is_alone = !is_shared && !argument.array->may_be_another;
      append(fmt::format("{}{}* {}{}, const i64 {}_length", is_const ? "const " : "",
                         element_name(argument.array->element), is_alone ? "__restrict__ " : "",
                         name, name));
    } else {
      append(
          fmt::format("const {} {}", type_name(argument.scalar->type), names.of(argument.scalar)));
    }
  }
  if (has_fault) append("fault* const fault");
  return list;
}

Code emit_cuda(const ir::Module& module, bool check_bounds) {
  Sites all;
  Sites* const sites = check_bounds ? &all : nullptr;
  Lines lines;
  const Names names(module);
  for (const ir::Array& table : module.tables()) {
    lines.add("{}{};", array_declaration(table, "static __device__ const ", names),
              table_initialiser(table));
    lines.blank();
  }
  emit_functions(module, sites, lines);
  for (const auto& kernel : module.kernels()) {
    Names own(module, *kernel);
    CudaBody(*kernel, own, sites, lines).emit();
  }
  return {types_text() + operators_text() + functions_text() + cuda_prelude_text() +
              "\nnamespace px {\n\n" + lines.take() + "}  // namespace px\n",
          all.list()};
}

}  // namespace hoist::px
