#include "px/emit/cpp_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "px/emit/cpp.h"
#include "px/emit/cpp_kernel.h"

namespace hoist::px {
namespace {

using ir::Expression;
using Kind = Expression::Kind;

// What a launch decides for all its threads, without a look at memory.
bool is_of_launch(const Expression& e) {
  switch (e.kind) {
    case Kind::variable:
    case Kind::load:
    case Kind::call:
      return false;
    case Kind::id:
      if (e.id() != ir::Id::block_size && e.id() != ir::Id::grid_size) return false;
      break;
    default:
      break;
  }
  return std::ranges::all_of(e.operands,
                             [](const auto* operand) { return is_of_launch(*operand); });
}

bool is_return(const ir::Block& block) {
  return block.size() == 1 && std::holds_alternative<ir::Return>(block.front().node);
}

// "IF tid < n:" around all that a kernel does, or "IF tid >= n: RETURN" before it: the loop ends
// at n instead of asking for every thread.
struct Guard {
  size_t position;  // of the `if` in the kernel's body
  const Expression* end;
};

class GuardSearch {
 public:
  explicit GuardSearch(const ir::Kernel& kernel) : kernel_(kernel) {}

  std::optional<Guard> find() {
    const ir::Block& body = kernel_.body;
    for (size_t i = 0; i < body.size(); ++i) {
      if (const auto* declared = std::get_if<ir::Declare>(&body[i].node)) {
        // What is not evaluated beyond the end must not be missed.
        if (declared->variable->is_mutable || declared->value->has_load) return std::nullopt;
        values_[declared->variable] = declared->value;
        continue;
      }
      const auto* branch = std::get_if<ir::If>(&body[i].node);
      if (!branch || !branch->otherwise.empty()) return std::nullopt;
      const bool leaves = is_return(branch->then);
      if (!leaves && i + 1 != body.size()) return std::nullopt;
      const Expression* end = end_of(*branch->condition, leaves);
      return end ? std::optional(Guard{i, end}) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  const Expression* resolved(const Expression* e) const {
    while (e->kind == Kind::variable) {
      const auto found = values_.find(e->variable);
      if (found == values_.end()) return e;
      e = found->second;
    }
    return e;
  }

  // n of "tid < n", or of "tid >= n" where the threads that have it leave.
  const Expression* end_of(const Expression& condition, bool leaves) const {
    const Expression* e = resolved(&condition);
    if (e->kind != Kind::compare) return nullptr;
    const Expression* left = resolved(e->operands[0]);
    const Expression* right = resolved(e->operands[1]);
    ir::Comparison comparison = e->comparison();
    if (right->kind == Kind::id) {
      std::swap(left, right);
      if (comparison == ir::Comparison::greater) {
        comparison = ir::Comparison::less;
      } else if (comparison == ir::Comparison::less_equal) {
        comparison = ir::Comparison::greater_equal;
      } else {
        return nullptr;
      }
    }
    const bool is_thread =
        left->kind == Kind::id && left->id() == ir::Id::thread && left->dimension == 0;
    const ir::Comparison wanted = leaves ? ir::Comparison::greater_equal : ir::Comparison::less;
    return is_thread && comparison == wanted && is_of_launch(*right) ? right : nullptr;
  }

  const ir::Kernel& kernel_;
  std::map<const ir::Variable*, const Expression*> values_;
};

class RowBody : public CppBody {
 public:
  RowBody(const ir::Kernel& kernel, Names& names, Sites* sites, Lines& lines)
      : CppBody(lines, names, sites),
        kernel_(kernel),
        ids_(used_ids(kernel)),
        leaves_by_label_(returns_in_loop(kernel.body)) {
    // Whether consecutive blocks are one loop.
    const bool knows_block = ids_.contains({ir::Id::block, 0}) ||
                             ids_.contains({ir::Id::local, 0}) || ids_.contains({ir::Id::lane, 0});
    is_merged_ = !knows_block && !sites;
    know_ranges(kernel, true);
  }

  void emit(Lines& entries) {
    head();
    const std::optional<Guard> guard = GuardSearch(kernel_).find();
    if (is_merged_) {
      merged_loop(guard);
    } else {
      loop_of_blocks(guard);
    }
    lines_.end();
    lines_.blank();
    entry(entries);
  }
  // Whether the function is a template of kNear.
  bool uses_near() const { return uses_near_; }

  Wrap wrap(const Expression& expression) const override {
    const Wrap wrap = Body::wrap(expression);
    if (wrap == Wrap::never_near) uses_near_ = true;
    return wrap;
  }

 protected:
  void collective(const ir::Statement&) override {}
  void return_thread(bool in_loop) override {
    lines_.add("{}", in_loop ? "goto next_thread;" : "continue;");
  }

 private:
  std::string name() const { return "k_" + identifier(kernel_.name); }

  void head() {
    std::string parameters = cpp_parameters(kernel_, names_);
    if (!parameters.empty()) parameters = ", " + parameters;
    lines_.begin(
        fmt::format("static void {}(const launch& grid, const row& at{})", name(), parameters));
    declare_sizes(ids_);
    lines_.add("const i32 width = i32(grid.threads[0]);");
  }

  void entry(Lines& entries) {
    std::string arguments = cpp_arguments(kernel_);
    if (!arguments.empty()) arguments = ", " + arguments;
    begin_entry(kernel_, entries);
    const std::string function =
        uses_near_ ? fmt::format("(is_near(grid, at) ? {0}<true> : {0}<false>)", name()) : name();
    entries.add("for_each_row(grid, begin, end, [&](const row& at) {{ {}(grid, at{}); }});",
                function, arguments);
    entries.end();
  }

  // Declares what the dimension is for the threads of one line.
  void declare_line(int d) {
    const char axis = "xyz"[d];
    if (ids_.contains({ir::Id::block, d})) lines_.add("const i32 block_{0} = i32(at.{0});", axis);
    if (ids_.contains({ir::Id::local, d})) lines_.add("const i32 local_{0} = i32({0});", axis);
    if (ids_.contains({ir::Id::thread, d})) {
      lines_.add("const i32 thread_{0} = i32(at.{0} * grid.threads[{1}] + {0});", axis, d);
    }
  }

  void begin_lines() {
    lines_.begin("for (u32 z = 0; z < grid.threads[2]; ++z)");
    lines_.begin("for (u32 y = 0; y < grid.threads[1]; ++y)");
    declare_line(1);
    declare_line(2);
  }
  void end_lines() {
    lines_.end();
    lines_.end();
  }

  std::string end_text(const std::optional<Guard>& guard, const std::string& end) const {
    return guard ? fmt::format("min({}, {})", end, text(guard->end)) : end;
  }

  void merged_loop(const std::optional<Guard>& guard) {
    lines_.add("const i32 begin = i32(at.first) * width;");
    lines_.add("const i32 end = {};", end_text(guard, "i32(at.last) * width"));
    begin_lines();
    if (is_independent(kernel_)) lines_.add("PX_INDEPENDENT");
    lines_.begin("for (i32 thread_x = begin; thread_x < end; ++thread_x)");
    thread(guard);
    lines_.end();
    end_lines();
  }

  void loop_of_blocks(const std::optional<Guard>& guard) {
    lines_.begin("for (u32 x = at.first; x < at.last; ++x)");
    lines_.add("const i32 block_x = i32(x);");
    lines_.add("const i32 begin = block_x * width;");
    // A guard's end may be below the first thread of a block.
    lines_.add("const i32 count = {};",
               guard ? fmt::format("max({}, begin) - begin", end_text(guard, "begin + width"))
                     : std::string("width"));
    begin_lines();
    if (is_independent(kernel_) && !sites_) lines_.add("PX_INDEPENDENT");
    lines_.begin("for (i32 local_x = 0; local_x < count; ++local_x)");
    lines_.add("const i32 thread_x = begin + local_x;");
    if (ids_.contains({ir::Id::lane, 0})) {
      lines_.add(
          "const i32 lane = i32(((z * grid.threads[1] + y) * u32(width) + u32(local_x)) % 32);");
    }
    if (sites_) {
      lines_.add("const checker check{{grid.fault, {{x, at.y, at.z}}, {{u32(local_x), y, z}}}};");
    }
    thread(guard);
    lines_.end();
    end_lines();
    lines_.end();
  }

  void thread(const std::optional<Guard>& guard) {
    // A label stands behind all declarations that a jump to it leaves.
    if (leaves_by_label_) lines_.begin("");
    for (const ir::Array& array : kernel_.arrays) {
      if (array.space == ir::Space::local) {
        lines_.add("{};", array_declaration(array, "", names_));
      }
    }
    statements(guard);
    if (leaves_by_label_) lines_.end(" next_thread:;");
  }

  void statements(const std::optional<Guard>& guard) {
    const std::span<const ir::Statement> body = kernel_.body;
    if (!guard) return block(body);
    block(body.first(guard->position));
    const auto& branch = std::get<ir::If>(body[guard->position].node);
    const auto behind = body.subspan(guard->position + 1);
    block(behind.empty() && !is_return(branch.then) ? std::span(branch.then) : behind);
  }

  const ir::Kernel& kernel_;
  const std::set<std::pair<ir::Id, int>> ids_;
  const bool leaves_by_label_;
  bool is_merged_;
  mutable bool uses_near_ = false;
};

}  // namespace

void emit_row_kernel(const ir::Module& module, const ir::Kernel& kernel, Sites* sites,
                     Lines& kernels, Lines& entries) {
  Names names(module, kernel);
  Lines function;
  RowBody body(kernel, names, sites, function);
  body.emit(entries);
  if (body.uses_near()) kernels.add("template <bool kNear>");
  kernels.raw(function.take());
}

}  // namespace hoist::px
