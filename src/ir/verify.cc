#include "ir/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

// Whether control never comes to the block's end.
bool always_returns(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& statement) {
    return match(
        statement, [](const Return&) { return true; },
        [](const If& branch) {
          return always_returns(branch.then) && always_returns(branch.otherwise);
        },
        [](const auto&) { return false; });
  });
}

// One kernel's or function's body.
class BodyCheck {
 public:
  BodyCheck(const Module& module, std::vector<Problem>& problems, bool is_kernel)
      : problems_(problems), is_kernel_(is_kernel) {
    for (const Array& table : module.tables()) arrays_.insert(&table);
  }

  void add(const std::deque<Array>& arrays) {
    for (const Array& array : arrays) arrays_.insert(&array);
  }
  void add(const Parameter* parameter) { parameters_.insert(parameter); }
  void allow_call(const Function* function) { functions_.insert(function); }
  void expect_value() { gives_value_ = true; }

  void block(const Block& block) {
    std::vector<const Variable*> declared;
    for (const Statement& each : block) {
      place_ = each.place;
      statement(each);
      if (const Variable* variable = declared_by(each)) {
        scope_.insert(variable);
        declared.push_back(variable);
      }
    }
    for (const Variable* variable : declared) scope_.erase(variable);
  }

  void expression(const Expression* e) {
    switch (e->kind) {
      case Kind::variable:
        if (!scope_.contains(e->variable)) report("{} is not in scope", e->variable->name);
        break;
      case Kind::parameter:
        if (!parameters_.contains(e->parameter)) {
          report("{} is no parameter here", e->parameter->name);
        }
        break;
      case Kind::length:
        known(e->array);
        break;
      case Kind::load:
        if (known(e->array) && e->array->direction == Direction::out) {
          report("{} is out: it cannot be read", e->array->name);
        }
        break;
      case Kind::id:
        if (!is_kernel_) report("a function has no thread: pass it the id");
        break;
      case Kind::call:
        if (!functions_.contains(e->function)) {
          report("{} is not known here: a function calls those before it", e->function->name);
        }
        break;
      default:
        break;
    }
    for (const Expression* operand : e->operands) expression(operand);
  }

  void at(Place place) { place_ = place; }

 private:
  template <typename... Arguments>
  void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    problems_.push_back({place_, fmt::format(format, std::forward<Arguments>(arguments)...)});
  }

  bool known(const Array* array) {
    if (arrays_.contains(array)) return true;
    report("{} is no array here", array->name);
    return false;
  }

  void writes(const Array* array) {
    if (!known(array)) return;
    if (array->space == Space::constant) report("{} is constant", array->name);
    if (array->space == Space::global && array->direction == Direction::in) {
      report("{} is in: it cannot be written", array->name);
    }
  }

  void collective() {
    if (!is_kernel_) report("a function cannot bring threads together");
  }

  void loop(const Block& body) {
    ++loops_;
    block(body);
    --loops_;
  }

  void statement(const Statement& statement) {
    match(
        statement, [&](const Declare& s) { expression(s.value); },
        [&](const Assign& s) {
          if (!scope_.contains(s.variable)) report("{} is not in scope", s.variable->name);
          if (!s.variable->is_mutable) report("{} cannot be assigned", s.variable->name);
          expression(s.value);
        },
        [&](const Store& s) {
          writes(s.array);
          expression(s.index);
          expression(s.value);
        },
        [&](const If& s) {
          expression(s.condition);
          block(s.then);
          block(s.otherwise);
        },
        [&](const For& s) {
          expression(s.from);
          expression(s.to);
          expression(s.step);
          scope_.insert(s.variable);
          loop(s.body);
          scope_.erase(s.variable);
        },
        [&](const While& s) {
          expression(s.condition);
          loop(s.body);
        },
        [&](const Break&) {
          if (loops_ == 0) report("there is no loop to leave");
        },
        [&](const Continue&) {
          if (loops_ == 0) report("there is no loop to continue");
        },
        [&](const Return& s) {
          if (s.value) expression(s.value);
          if (gives_value_ && !s.value) report("a function returns a value");
          if (!gives_value_ && s.value) report("a kernel returns no value");
        },
        [&](const Barrier&) { collective(); },
        [&](const Shuffle& s) {
          collective();
          expression(s.value);
          expression(s.amount);
        },
        [&](const Ballot& s) {
          collective();
          expression(s.condition);
        },
        [&](const Reduce& s) {
          collective();
          expression(s.value);
        },
        [&](const Atomic& s) {
          writes(s.array);
          if (s.array->direction == Direction::out) {
            report("{} is out: an atomic reads it, too", s.array->name);
          }
          if (s.array->space == Space::local) report("{} is the thread's own", s.array->name);
          expression(s.index);
          expression(s.value);
          if (s.comparand) expression(s.comparand);
        });
  }

  std::vector<Problem>& problems_;
  const bool is_kernel_;
  bool gives_value_ = false;
  int loops_ = 0;
  Place place_;
  std::set<const Variable*> scope_;
  std::set<const Array*> arrays_;
  std::set<const Parameter*> parameters_;
  std::set<const Function*> functions_;
};

void check_arrays(const std::deque<Array>& arrays, Place place, std::vector<Problem>& problems) {
  uint64_t local = 0;
  for (const Array& array : arrays) {
    if (array.space == Space::global) continue;
    if (array.count == 0 || array.count > kSharedLimit) {
      problems.push_back({place, fmt::format("{} has {} elements", array.name, array.count)});
    } else if (array.space == Space::local) {
      local += array.count * static_cast<uint64_t>(bytes(array.element));
    }
  }
  if (local > kLocalLimit) {
    problems.push_back({place, fmt::format("a thread has {} bytes of arrays of its own, more than "
                                           "{}",
                                           local, kLocalLimit)});
  }
}

void check_kernel(const Module& module, const Kernel& kernel, std::vector<Problem>& problems) {
  check_arrays(kernel.arrays, kernel.place, problems);
  if (const uint64_t shared = kernel.shared_bytes(); shared > kSharedLimit) {
    problems.push_back(
        {kernel.place, fmt::format("{} has {} bytes of shared memory, more than the {} of a block",
                                   kernel.name, shared, kSharedLimit)});
  }
  BodyCheck check(module, problems, true);
  check.add(kernel.arrays);
  for (const Parameter& parameter : kernel.scalars) check.add(&parameter);
  for (const auto& function : module.functions()) check.allow_call(function.get());
  check.block(kernel.body);
  const Uniformity uniformity(kernel);
  problems.insert(problems.end(), uniformity.problems().begin(), uniformity.problems().end());
}

void check_function(const Module& module, const Function& function,
                    std::vector<Problem>& problems) {
  check_arrays(function.arrays, function.place, problems);
  BodyCheck check(module, problems, false);
  check.add(function.arrays);
  check.expect_value();
  for (const Parameter* parameter : function.parameters) check.add(parameter);
  for (const auto& earlier : module.functions()) {
    if (earlier.get() == &function) break;
    check.allow_call(earlier.get());
  }
  check.block(function.body);
  if (!always_returns(function.body)) {
    problems.push_back(
        {function.place, fmt::format("{} may end without giving a value", function.name)});
  }
}

void check_launch(const Module& module, const Launch& launch, std::vector<Problem>& problems) {
  BodyCheck check(module, problems, false);
  check.at(launch.place);
  check.add(launch.kernel->arrays);
  for (const Parameter& parameter : launch.kernel->scalars) check.add(&parameter);
  for (const auto* extents : {&launch.blocks, &launch.threads}) {
    if (!extents->front()) problems.push_back({launch.place, "a launch has blocks and threads"});
    for (const Expression* extent : *extents) {
      if (!extent) continue;
      check.expression(extent);
      if (extent->has_load || extent->type.is_vector() || !is_integer(extent->type.scalar)) {
        problems.push_back({launch.place, "a launch counts in integers, and reads no array"});
      }
    }
  }
}

}  // namespace

std::vector<Problem> verify(const Module& module) {
  std::vector<Problem> problems;
  for (const auto& function : module.functions()) check_function(module, *function, problems);
  for (const auto& kernel : module.kernels()) check_kernel(module, *kernel, problems);
  for (const Launch& launch : module.launches()) check_launch(module, launch, problems);
  std::ranges::stable_sort(problems, {}, [](const Problem& problem) {
    return std::pair(problem.place.line, problem.place.column);
  });
  return problems;
}

}  // namespace hoist::ir
