#include "px/lower/host_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "ir/walk.h"
#include "px/lower/array_use.h"
#include "px/lower/evaluate.h"
#include "px/lower/expression_lowering.h"
#include "px/lower/host_names.h"

namespace hoist::px {
namespace {

using syntax::Name;
using syntax::Statement;

class HostLowering {
 public:
  HostLowering(Lowering& lowering, HostProgram& program)
      : l_(lowering),
        program_(program),
        names_(lowering, program),
        expressions_(lowering, watch_) {}

  void run(const std::vector<Statement>& statements) {
    l_.is_host = true;
    l_.scopes.open();
    names_.declare(statements);
    steps_into(program_.steps, statements);
    l_.scopes.close([&](const std::string& name, const Symbol& symbol) {
      if (symbol.kind == Symbol::Kind::parameter && symbol.is_used) names_.use_scalar(name);
    });
  }

 private:
  void steps_into(std::vector<HostStep>& steps, const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) step_into(steps, statement);
  }

  void step_into(std::vector<HostStep>& steps, const Statement& statement) {
    const auto add = [&](auto action) { steps.push_back({statement.span, std::move(action)}); };
    switch (statement.word) {
      case Word::GPU_TARGET:
      case Word::GPU_SELECT:
        choose(statement);
        break;
      case Word::GPU_ALLOC:
        allocate_into(steps, statement);
        break;
      case Word::GPU_FREE:
        if (const HostArray* array = allocated(statement.option)) add(HostFree{array});
        break;
      case Word::GPU_COPY_TO_GPU:
      case Word::GPU_COPY_FROM_GPU:
        copy_into(steps, statement);
        break;
      case Word::GPU_LAUNCH:
        if (auto launch = this->launch(statement)) add(std::move(*launch));
        break;
      case Word::GPU_SYNC:
        add(HostSynchronize{});
        break;
      case Word::FOR:
        loop_into(steps, statement);
        break;
      default:
        break;
    }
  }

  // GPU_TARGET and GPU_SELECT hold for the whole file.
  void choose(const Statement& statement) {
    if (!program_.steps.empty() || is_in_loop_) {
      return l_.error(
          statement.word_span,
          fmt::format("{} stands behind what it would decide", properties(statement.word).name),
          "put it before all other words of the host");
    }
    if (statement.word == Word::GPU_TARGET) return target(statement.option);
    const syntax::Expression& operand = *statement.operands[0];
    const ir::Expression* number = integer(operand, "the GPU's number");
    const auto bits = number == nullptr ? std::nullopt : evaluate(*number);
    if (bits && *bits <= kMostDevice) {
      program_.device = static_cast<int>(*bits);
    } else if (number != nullptr) {
      l_.error(operand.span, "a GPU's number is a constant from 0 on", "write GPU_SELECT 0");
    }
  }

  void target(const Name& name) {
    const std::string word = upper_case(name.text);
    if (word == "AUTO") return;
    if (word == "CPU" || word == "GPU") {
      program_.target = word == "CPU" ? HostTarget::cpu : HostTarget::gpu;
      return;
    }
    l_.error(name.span, fmt::format("no target {}", name.text),
             "write GPU_TARGET auto, cpu or gpu");
  }

  const HostArray* allocated(const Name& name) {
    const HostArray* array = names_.find_array(name.text);
    if (array != nullptr && array->is_allocated) return array;
    l_.error(name.span, fmt::format("{} is no array on the GPU", name.text),
             fmt::format("make it before: GPU_ALLOC {} type count", name.text));
    return nullptr;
  }

  void allocate_into(std::vector<HostStep>& steps, const Statement& statement) {
    const HostArray* array = names_.find_array(statement.results[0].text);
    const ir::Expression* count = integer(*statement.operands[0], "a number of elements");
    if (array == nullptr || count == nullptr) return;
    steps.push_back({statement.span, HostAllocate{array, count}});
  }

  void copy_into(std::vector<HostStep>& steps, const Statement& statement) {
    HostArray* from = names_.find_array(statement.results[0].text);
    HostArray* to = names_.find_array(statement.results[1].text);
    const ir::Expression* count = integer(*statement.operands[0], "a number of elements");
    if (from == nullptr || to == nullptr || count == nullptr) return;
    from->is_read |= !from->is_written;
    to->is_written = true;
    steps.push_back({statement.span, HostCopy{from, to, count}});
  }

  std::optional<HostLaunch> launch(const Statement& statement) {
    HostLaunch launch;
    launch.kernel = names_.kernel_of(statement);
    if (launch.kernel == nullptr) return std::nullopt;
    for (size_t i = 0; i < statement.blocks; ++i) {
      launch.blocks[i] = integer(*statement.operands[i], "a number of blocks");
    }
    for (size_t i = 0; i < statement.threads; ++i) {
      launch.threads[i] = integer(*statement.operands[statement.blocks + i], "a number of threads");
    }
    check_given(*launch.kernel, statement.results);
    for (const ir::Kernel::Argument& parameter : launch.kernel->arguments) {
      launch.arguments.push_back(argument(statement, *launch.kernel, parameter));
    }
    return launch;
  }

  // WITH names parameters of the kernel, each once.
  void check_given(const ir::Kernel& kernel, const std::vector<Name>& names) {
    std::set<std::string> given;
    for (const Name& name : names) {
      if (kernel.find_argument(name.text) < 0) {
        l_.error(name.span, fmt::format("{} has no parameter {}", kernel.name, name.text),
                 "name a GPU_PARAM of the kernel");
      } else if (!given.insert(name.text).second) {
        l_.error(name.span, fmt::format("{} is given twice", name.text), "give it once");
      }
    }
  }

  HostLaunch::Argument argument(const Statement& statement, const ir::Kernel& kernel,
                                const ir::Kernel::Argument& parameter) {
    const syntax::Expression* with = HostNames::given(statement, parameter.name());
    if (parameter.array != nullptr) {
      HostArray* array = with == nullptr ? names_.find_array(parameter.name()) : array_of(*with);
      if (array == nullptr) return {};
      if (array->array.element != parameter.array->element) {
        if (with == nullptr) return {};  // reported as a conflict
        l_.error(with->span,
                 fmt::format("{} is {}, and the kernel's {} is {}", array->array.name,
                             name(array->array.element), parameter.name(),
                             name(parameter.array->element)),
                 "give it an array of its type");
        return {};
      }
      const ArrayUse use = use_of(kernel, parameter.array);
      array->is_read |= use.is_read && !array->is_written;
      array->is_written |= use.is_written;
      return {.array = array};
    }
    const ir::Type type = parameter.scalar->type;
    if (with != nullptr) {
      return {.scalar = checked(expressions_.as(*with, type, parameter.name()), with->span)};
    }
    const HostScalar* scalar = names_.use_scalar(parameter.name());
    if (scalar == nullptr) return {};
    return {.scalar = l_.module.expressions().parameter(&scalar->parameter)};
  }

  HostArray* array_of(const syntax::Expression& expression) {
    const bool is_name = expression.kind == syntax::ExpressionKind::name;
    HostArray* array = is_name ? names_.find_array(expression.text) : nullptr;
    if (array != nullptr) return array;
    l_.error(expression.span, fmt::format("{} is no array of the host", l_.text(expression.span)),
             "write the name of an array");
    return nullptr;
  }

  void loop_into(std::vector<HostStep>& steps, const Statement& statement) {
    HostLoop loop;
    const auto bound = [&](size_t number) -> const ir::Expression* {
      if (number >= statement.operands.size()) return nullptr;
      return checked(
          expressions_.as(*statement.operands[number], ir::Scalar::i32, "a loop's bound"),
          statement.operands[number]->span);
    };
    loop.from = bound(0);
    loop.to = bound(1);
    loop.step = bound(2);
    HostScalar& counter = program_.scalars.emplace_back();
    counter.parameter = {statement.results[0].text, ir::Scalar::i32};
    counter.is_counter = true;
    loop.counter = &counter;
    l_.scopes.open();
    l_.declare(statement.results[0],
               {.kind = Symbol::Kind::parameter, .parameter = &counter.parameter});
    const bool was_in_loop = std::exchange(is_in_loop_, true);
    steps_into(loop.body, statement.body);
    is_in_loop_ = was_in_loop;
    l_.scopes.close([](const std::string&, const Symbol&) {});
    steps.push_back({statement.span, std::move(loop)});
  }

  const ir::Expression* integer(const syntax::Expression& expression, std::string_view who) {
    return checked(expressions_.integer(expression, who), expression.span);
  }

  // The expression, where the host can compute it.
  const ir::Expression* checked(const ir::Expression* expression, Span span) {
    if (expression == nullptr) return nullptr;
    const char* why = nullptr;
    ir::for_each_node(*expression, [&](const ir::Expression& node) {
      if (node.kind == ir::Expression::Kind::id) why = "threads are numbered in kernels alone";
      if (node.kind == ir::Expression::Kind::call) why = "a FUNC is called in kernels alone";
      if (node.has_load) why = "an array's elements are read in kernels alone";
    });
    if (why == nullptr) return expression;
    l_.error(span, why, "compute with numbers, CONST names, scalar parameters and len(a)");
    return nullptr;
  }

  static constexpr uint64_t kMostDevice = 1023;

  Lowering& l_;
  HostProgram& program_;
  HostNames names_;
  BoundsWatch watch_;
  ExpressionLowering expressions_;
  bool is_in_loop_ = false;
};

}  // namespace

void lower_host(Lowering& lowering, const std::vector<Statement>& statements,
                HostProgram& program) {
  HostLowering(lowering, program).run(statements);
}

}  // namespace hoist::px
