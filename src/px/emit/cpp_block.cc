#include "px/emit/cpp_block.h"

#include <fmt/core.h>

#include <set>

#include "ir/walk.h"
#include "px/emit/block_plan.h"
#include "px/emit/cpp.h"
#include "px/emit/cpp_kernel.h"
#include "px/emit/expression_text.h"

namespace hoist::px {
namespace {

using Storage = BlockPlan::Storage;

// So many elements that the next thread's array is aligned for vectors, too.
uint64_t padded_count(const ir::Array& array) {
  const uint64_t elements = 16 / static_cast<uint64_t>(ir::bytes(array.element));
  return (array.count + elements - 1) / elements * elements;
}

class BlockBody : public CppBody {
 public:
  BlockBody(const ir::Kernel& kernel, Names& names, Sites* sites, Lines& lines)
      : CppBody(lines, names, sites), kernel_(kernel), plan_(kernel), ids_(used_ids(kernel)) {
    know_ranges(kernel, false);
  }

  void emit(Lines& entries) {
    std::string parameters = cpp_parameters(kernel_, names_);
    if (!parameters.empty()) parameters = ", " + parameters;
    lines_.begin(
        fmt::format("static void {}(const launch& grid, const i32 block_x, const i32 "
                    "block_y, const i32 block_z, scratch& memory{})",
                    name(), parameters));
    memory();
    if (sites_) {
      lines_.add(
          "const checker check{{grid.fault, {{u32(block_x), u32(block_y), u32(block_z)}}, {{}}}};");
    }
    steps(plan_.steps());
    lines_.end();
    lines_.blank();
    entry(entries);
  }

  std::string variable(const ir::Variable* variable) const override {
    const std::string& name = names_.of(variable);
    return plan_.storage(variable) == Storage::kept ? name + "[t]" : name;
  }
  std::string array(const ir::Array* array) const override {
    const std::string& name = names_.of(array);
    return plan_.is_kept(array) ? fmt::format("({} + t * {})", name, padded_count(*array)) : name;
  }

 protected:
  void declare(const ir::Variable* variable, const std::string& value) override {
    if (plan_.storage(variable) == Storage::kept) {
      lines_.add("{} = {};", this->variable(variable), value);
    } else {
      Body::declare(variable, value);
    }
  }

  void statement(const ir::Statement& statement) override {
    if (loops() == 0 && std::holds_alternative<ir::Continue>(statement.node)) {
      lines_.add("gone[t] = 1;");
    }
    Body::statement(statement);
  }

  void return_thread(bool in_loop) override {
    lines_.add("gone[t] = 2;");
    if (in_loop) {
      lines_.add("goto {};", label_);
    } else {
      lines_.add("continue;");
    }
  }

  void collective(const ir::Statement& statement) override {
    ir::match(
        statement, [&](const ir::Shuffle& s) { shuffle(s); },
        [&](const ir::Ballot& s) { ballot(s); }, [&](const ir::Reduce& s) { reduce(s); },
        [](const auto&) {});
  }

 private:
  std::string name() const { return "k_" + identifier(kernel_.name); }

  // The block's memory, and how much of it there is, in `fixed_` and `of_thread_`.
  void take(const std::string& type, int size, const std::string& name, uint64_t count,
            bool for_each_thread) {
    lines_.add("{0}* __restrict const {1} = memory.take<{0}>({2});", type, name,
               for_each_thread ? count == 1 ? "threads" : fmt::format("threads * {}", count)
                               : fmt::format("{}", count));
    (for_each_thread ? of_thread_ : fixed_) += static_cast<uint64_t>(size) * count;
    fixed_ += 64;
  }

  void memory() {
    lines_.add("const i32 width = i32(grid.threads[0]);");
    lines_.add("const i32 height = i32(grid.threads[1]);");
    lines_.add("const i32 depth = i32(grid.threads[2]);");
    lines_.add("const u32 threads = u32(width * height * depth);");
    declare_sizes(ids_);
    lines_.add("memory.reset();");
    for (const ir::Array& array : kernel_.arrays) {
      const bool is_shared = array.space == ir::Space::shared;
      if (!is_shared && !plan_.is_kept(&array)) continue;
      take(element_name(array.element), ir::bytes(array.element), names_.of(&array),
           padded_count(array), !is_shared);
    }
    for (const ir::Variable* variable : plan_.kept_variables()) {
      const ir::Type type = variable->type;
      take(type_name(type), ir::bytes(type.scalar) * type.lanes, names_.of(variable), 1, true);
    }
    take("u64", 8, "collected", 1, true);
    if (plan_.marks_gone()) {
      take("u8", 1, "gone", 1, true);
      lines_.add("for (u32 t = 0; t < threads; ++t) gone[t] = 0;");
    }
  }

  // The ids that a step's threads need, with those of what is rebuilt for it.
  std::set<std::pair<ir::Id, int>> ids_in(const Step& step) const {
    std::set<std::pair<ir::Id, int>> ids;
    const auto note = [&](const ir::Expression& e) {
      if (e.kind == ir::Expression::Kind::id) ids.emplace(e.id(), e.dimension);
    };
    for (const ir::Statement* each : step.statements) ir::for_each_node({each, 1}, note);
    for (const ir::Variable* variable : plan_.rebuilt_in(step)) {
      ir::for_each_node(plan_.value_of(variable), note);
    }
    return ids;
  }

  // A loop over the block's threads, open for what they do in the step.
  void begin_threads(const Step& step) {
    lines_.begin("for (i32 z = 0; z < depth; ++z)");
    lines_.begin("for (i32 y = 0; y < height; ++y)");
    if (is_independent(kernel_) && !sites_) lines_.add("PX_INDEPENDENT");
    lines_.begin("for (i32 x = 0; x < width; ++x)");
    lines_.add("const i32 t = (z * height + y) * width + x;");
    if (plan_.marks_gone()) lines_.add("if (gone[t] != 0) continue;");
    constexpr const char* kExtents[] = {"width", "height", "depth"};
    for (const auto& [which, d] : ids_in(step)) {
      const char axis = "xyz"[d];
      if (which == ir::Id::lane) lines_.add("const i32 lane = t % 32;");
      if (which == ir::Id::local) lines_.add("const i32 local_{0} = {0};", axis);
      if (which == ir::Id::thread) {
        lines_.add("const i32 thread_{0} = block_{0} * {1} + {0};", axis, kExtents[d]);
      }
    }
    if (sites_) {
      lines_.add(
          "const checker check{{grid.fault, {{u32(block_x), u32(block_y), u32(block_z)}}, "
          "{{u32(x), u32(y), u32(z)}}}};");
    }
    for (const ir::Variable* variable : plan_.rebuilt_in(step)) {
      Body::declare(variable, text(&plan_.value_of(variable)));
    }
  }
  void end_threads() {
    for (int i = 0; i < 3; ++i) lines_.end();
  }

  void steps(const std::vector<Step>& list) {
    for (const Step& each : list) step(each);
  }

  void step(const Step& step) {
    place_ = step.statement().place;
    switch (step.kind) {
      case Step::Kind::threads:
        threads(step);
        break;
      case Step::Kind::collective:
        step_ = &step;
        collective(step.statement());
        break;
      case Step::Kind::uniform:
        uniform(step.statement());
        break;
      case Step::Kind::branch:
        lines_.begin(
            fmt::format("if ({})", text(std::get<ir::If>(step.statement().node).condition)));
        steps(step.body);
        if (!step.otherwise.empty()) {
          lines_.begin_else();
          steps(step.otherwise);
        }
        lines_.end();
        break;
      case Step::Kind::for_loop:
        lines_.end(turns(step, begin_for(std::get<ir::For>(step.statement().node))));
        break;
      case Step::Kind::while_loop:
        lines_.begin(
            fmt::format("while ({})", text(std::get<ir::While>(step.statement().node).condition)));
        lines_.end(turns(step, {}));
        break;
    }
  }

  // The body of a loop around steps; gives the tail back.
  std::string turns(const Step& step, std::string tail) {
    if (plan_.marks_gone()) {
      lines_.add("for (u32 t = 0; t < threads; ++t) gone[t] = u8(gone[t] & 2);");
    }
    steps(step.body);
    return tail;
  }

  void uniform(const ir::Statement& statement) {
    if (std::holds_alternative<ir::Return>(statement.node)) {
      lines_.add("return;");
    } else if (std::holds_alternative<ir::Continue>(statement.node)) {
      lines_.add("continue;");
    } else {
      Body::statement(statement);
    }
  }

  void threads(const Step& step) {
    bool leaves_by_label = false;
    for (const ir::Statement* each : step.statements) {
      leaves_by_label |= returns_in_loop({each, 1});
    }
    begin_threads(step);
    if (leaves_by_label) {
      label_ = fmt::format("next_thread_{}", ++labels_);
      lines_.begin("");
    }
    for (const ir::Array* array : plain_arrays(step)) {
      lines_.add("{};", array_declaration(*array, "", names_));
    }
    for (const ir::Statement* each : step.statements) block({each, 1});
    if (leaves_by_label) lines_.end(fmt::format(" {}:;", label_));
    end_threads();
  }

  std::set<const ir::Array*> plain_arrays(const Step& step) const;

  // A loop that gives `name`[t] each thread's value.
  void collect(const std::string& type, const std::string& name, const ir::Expression* value) {
    lines_.add("{0}* const {1} = reinterpret_cast<{0}*>(collected);", type, name);
    begin_threads(*step_);
    lines_.add("{}[t] = {};", name, text(value));
    end_threads();
  }
  // A loop that gives each thread its result, as an expression of t.
  void distribute(const ir::Variable* result, const std::string& value) {
    const bool is_kept = plan_.storage(result) == Storage::kept;
    if (!is_kept && !sites_) return;
    begin_threads(*step_);
    // What nobody uses may still find a fault.
    lines_.add("{} = {};", is_kept ? variable(result) : "[[maybe_unused]] const auto unused",
               value);
    end_threads();
  }

  void shuffle(const ir::Shuffle& s) {
    const std::string given = names_.fresh("given");
    collect(type_name(s.value->type), given, s.value);
    const std::string lane = shuffle_lane(s.kind, "t % 32", text(s.amount));
    distribute(s.result, fmt::format("{}[source(u32(t), {}, threads)]", given, lane));
  }

  void ballot(const ir::Ballot& s) {
    const std::string votes = names_.fresh("votes");
    lines_.add("u32 {}[32] = {{}};", votes);
    begin_threads(*step_);
    lines_.add("{}[t / 32] |= u32({}) << (t % 32);", votes, text(s.condition));
    end_threads();
    distribute(s.result, fmt::format("{}[t / 32]", votes));
  }

  void reduce(const ir::Reduce& s) {
    const std::string given = names_.fresh("given");
    const std::string type = type_name(s.value->type);
    collect(type, given, s.value);
    const std::string combine = combination(s.op, type);
    if (s.scope == ir::Reduce::Scope::block) {
      lines_.add("const {} {} = combine_block({}, threads, {});", type, names_.of(s.result), given,
                 combine);
    } else {
      lines_.add("combine_warps({}, threads, {});", given, combine);
      distribute(s.result, fmt::format("{}[t / 32 * 32]", given));
    }
  }

  void entry(Lines& entries) {
    std::string arguments = cpp_arguments(kernel_);
    if (!arguments.empty()) arguments = ", " + arguments;
    begin_entry(kernel_, entries);
    entries.add(
        "scratch memory({} + u64(grid.threads[0]) * grid.threads[1] * grid.threads[2] * {});",
        fixed_, of_thread_);
    entries.begin("for_each_row(grid, begin, end, [&](const row& at)");
    entries.begin("for (u32 x = at.first; x < at.last; ++x)");
    entries.add("{}(grid, i32(x), i32(at.y), i32(at.z), memory{});", name(), arguments);
    entries.end();
    entries.end(");");
    entries.end();
  }

  const ir::Kernel& kernel_;
  const BlockPlan plan_;
  const std::set<std::pair<ir::Id, int>> ids_;
  const Step* step_ = nullptr;
  std::string label_;
  int labels_ = 0;
  uint64_t fixed_ = 0;
  uint64_t of_thread_ = 0;
};

// The local arrays that this step alone uses.
std::set<const ir::Array*> BlockBody::plain_arrays(const Step& step) const {
  std::set<const ir::Array*> found;
  const auto add = [&](const ir::Array* array) {
    if (array && array->space == ir::Space::local && !plan_.is_kept(array)) found.insert(array);
  };
  for (const ir::Statement* each : step.statements) {
    const std::span<const ir::Statement> block(each, 1);
    ir::for_each_node(block, [&](const ir::Expression& e) { add(e.array); });
    ir::for_each_statement(block, [&](const ir::Statement& statement) {
      if (const auto* store = std::get_if<ir::Store>(&statement.node)) add(store->array);
    });
  }
  return found;
}

}  // namespace

void emit_block_kernel(const ir::Module& module, const ir::Kernel& kernel, Sites* sites,
                       Lines& kernels, Lines& entries) {
  Names names(module, kernel);
  BlockBody(kernel, names, sites, kernels).emit(entries);
}

}  // namespace hoist::px
