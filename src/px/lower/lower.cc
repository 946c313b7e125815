#include "px/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ir/builder.h"
#include "ir/verify.h"
#include "px/lower/body_lowering.h"
#include "px/lower/evaluate.h"
#include "px/lower/host_lowering.h"
#include "px/lower/own_launches.h"
#include "px/syntax/parser.h"

namespace hoist::px {
namespace {

using syntax::Statement;
using syntax::StatementKind;

constexpr uint64_t kMostTableElements = 1 << 20;

// Whether each way through the block ends in RETURN.
bool always_returns(const std::vector<Statement>& block) {
  if (block.empty() || block.back().kind != StatementKind::word) return false;
  const Statement& last = block.back();
  if (last.word == Word::RETURN) return true;
  return last.word == Word::IF && always_returns(last.body) && always_returns(last.otherwise);
}

class FileLowering {
 public:
  FileLowering(const syntax::File& file, Lowering& lowering, HostProgram& host)
      : file_(file), l_(lowering), host_(host) {}

  void run() {
    for (const syntax::Constant& constant : file_.constants) lower(constant);
    for (const syntax::Function& function : file_.functions) lower(function);
    for (const syntax::Kernel& kernel : file_.kernels) lower(kernel);
    lower_host(l_, file_.host, host_);
  }

 private:
  // CONST name type = value, CONST name type[n] = values
  void lower(const syntax::Constant& constant) {
    BoundsWatch watch;
    ExpressionLowering expressions(l_, watch);
    const auto type = l_.type(constant.type);
    std::vector<uint64_t> values;
    bool is_whole = type.has_value();
    for (const syntax::ExpressionPointer& value : constant.values) {
      if (!is_whole) break;
      const ir::Expression* typed = expressions.as(*value, *type, constant.name.text);
      const auto bits = typed == nullptr ? std::nullopt : evaluate(*typed);
      if (typed != nullptr && !bits) {
        l_.error(value->span, fmt::format("{} is no constant", l_.text(value->span)),
                 "write numbers and names of CONST");
      }
      is_whole = bits.has_value();
      if (bits) values.push_back(*bits);
    }
    is_whole = is_whole && check_count(constant, expressions, values.size());
    if (!is_whole) {
      l_.scopes.add(constant.name.text, {.declared = constant.name.span});
      return;
    }
    declare(constant, *type, std::move(values));
  }

  void declare(const syntax::Constant& constant, ir::Type type, std::vector<uint64_t> values) {
    if (constant.count == nullptr) {
      const ir::Expression* value = l_.module.expressions().constant(type.scalar, values[0]);
      l_.declare(constant.name, {.kind = Symbol::Kind::constant, .value = value});
      return;
    }
    Symbol* symbol = l_.declare(constant.name, {.kind = Symbol::Kind::array});
    if (symbol == nullptr) return;
    symbol->array = l_.module.add_table(constant.name.text, type.scalar, std::move(values));
  }

  bool check_count(const syntax::Constant& constant, ExpressionLowering& expressions,
                   size_t values) {
    if (constant.type.is_array) {
      l_.error(constant.type.span, "a table has a length",
               fmt::format("write CONST {} {}[{}] = …", constant.name.text, constant.type.scalar,
                           values));
      return false;
    }
    if (constant.count == nullptr) {
      if (values == 1) return true;
      l_.error(constant.name.span,
               fmt::format("{} is one value, and {} are given", constant.name.text, values),
               fmt::format("write CONST {} {}[{}] = …", constant.name.text, constant.type.scalar,
                           values));
      return false;
    }
    const auto count = expressions.count(*constant.count, "a table's length");
    if (!count) return false;
    if (*count > kMostTableElements) {
      l_.error(
          constant.count->span, fmt::format("a table of {} elements", *count),
          fmt::format("at most {}: give larger ones to the kernel as arrays", kMostTableElements));
      return false;
    }
    if (*count == values) return true;
    l_.error(constant.count->span,
             fmt::format("{} has {} elements, and {} values are given", constant.name.text, *count,
                         values),
             fmt::format("write [{}], or give the values that lack", values));
    return false;
  }

  void lower(const syntax::Function& function) {
    const auto result = l_.type(function.result);
    const bool is_scalar = result && !result->is_vector() && !function.result.is_array;
    if (result && !is_scalar) {
      l_.error(function.result.span, "a function's result is one value", "write its type: f32, …");
    }
    if (!always_returns(function.body) && !l_.forgives_unknown_names) {
      l_.error(function.name.span, fmt::format("{} may end without a RETURN", function.name.text),
               "write RETURN value before ENDFUNC");
    }
    const ir::Scalar type = is_scalar ? result->scalar : ir::Scalar::i32;
    ir::FunctionBuilder builder(l_.module, function.name.text, type, l_.place(function.name.span));
    l_.scopes.open();
    for (const syntax::Parameter& parameter : function.parameters) {
      const auto of = l_.type(parameter.type);
      if (of && (of->is_vector() || parameter.type.is_array)) {
        l_.error(parameter.type.span, "a function takes single values",
                 "load the elements in the kernel, and give them to the function");
      }
      const ir::Parameter* made =
          builder.parameter(parameter.name.text, of ? of->scalar : ir::Scalar::i32);
      l_.declare(parameter.name, {.kind = Symbol::Kind::parameter, .parameter = made});
    }
    l_.function = &function;
    BodyLowering(l_, builder, type).run(function.body);
    l_.function = nullptr;
    l_.scopes.close([](const std::string&, const Symbol&) {});
    const ir::Function* made = builder.finish();
    l_.declare(function.name, {.kind = Symbol::Kind::function, .function = made});
  }

  void lower(const syntax::Kernel& kernel) {
    ir::KernelBuilder builder(l_.module, kernel.name.text, l_.place(kernel.name.span));
    l_.scopes.open();
    for (const syntax::Parameter& parameter : kernel.parameters) declare(parameter, builder);
    uint64_t bytes = 0;
    for (const syntax::SharedArray& shared : kernel.shared) declare(shared, builder, bytes);
    BodyLowering(l_, builder).run(kernel.body);
    l_.scopes.close([&](const std::string& name, const Symbol& symbol) { warn(name, symbol); });
    const ir::Kernel* made = builder.finish();
    l_.declare(kernel.name, {.kind = Symbol::Kind::kernel, .kernel = made});
  }

  // The first block's names: its variables are warned of as all others are.
  void warn(const std::string& name, const Symbol& symbol) {
    const bool counts = symbol.kind == Symbol::Kind::variable;
    if (!counts || symbol.is_used || name.starts_with('_')) return;
    l_.warn(symbol.declared, fmt::format("{} is never used", name),
            fmt::format("leave it out, or call it _{}", name));
  }

  void declare(const syntax::Parameter& parameter, ir::KernelBuilder& builder) {
    const auto type = l_.type(parameter.type);
    if (!type) {
      l_.scopes.add(parameter.name.text, {.declared = parameter.name.span});
      return;
    }
    if (type->is_vector()) {
      l_.error(parameter.type.span, "a parameter of vectors",
               "declare an array of numbers, and load a[i BY 4]");
    }
    if (parameter.type.is_array) {
      const ir::Array* array = builder.array(parameter.name.text, type->scalar,
                                             static_cast<ir::Direction>(parameter.direction));
      l_.declare(parameter.name, {.kind = Symbol::Kind::array, .array = array});
      return;
    }
    if (parameter.has_direction && parameter.direction != syntax::Direction::in) {
      l_.error(parameter.type.span, "a single value goes into a kernel, and never out of it",
               fmt::format("declare an array: {}[]", parameter.type.scalar));
    }
    const ir::Parameter* made = builder.parameter(parameter.name.text, type->scalar);
    l_.declare(parameter.name, {.kind = Symbol::Kind::parameter, .parameter = made});
  }

  void declare(const syntax::SharedArray& shared, ir::KernelBuilder& builder, uint64_t& bytes) {
    BoundsWatch watch;
    const auto type = l_.type(shared.type);
    const auto count = ExpressionLowering(l_, watch).count(*shared.count, "a number of elements");
    if (!type || !count) {
      l_.scopes.add(shared.name.text, {.declared = shared.name.span});
      return;
    }
    if (type->is_vector()) {
      l_.error(shared.type.span, "a shared array of vectors", "declare an array of its numbers");
    }
    const auto size = static_cast<uint64_t>(ir::bytes(type->scalar));
    const bool fits = *count <= (ir::kSharedLimit - bytes) / size;
    if (!fits) {
      l_.error(shared.name.span,
               fmt::format("{} brings the kernel's shared memory to more than {} bytes",
                           shared.name.text, ir::kSharedLimit),
               bytes == 0 ? fmt::format("at most {} elements of {} fit", ir::kSharedLimit / size,
                                        name(type->scalar))
                          : fmt::format("{} bytes are left behind the arrays before it",
                                        ir::kSharedLimit - bytes));
    } else {
      bytes += *count * size;
    }
    const ir::Array* array =
        builder.shared_array(shared.name.text, type->scalar, fits ? *count : 1);
    l_.declare(shared.name, {.kind = Symbol::Kind::array, .array = array});
  }

  const syntax::File& file_;
  Lowering& l_;
  HostProgram& host_;
};

// What only the whole shows: above all SYNC_THREADS that not all threads reach.
void report_problems(Lowering& lowering) {
  for (const ir::Problem& problem : ir::verify(lowering.module)) {
    const bool has_cause = problem.cause != ir::Place();
    lowering.error(lowering.source.word_at({problem.place.line, problem.place.column}),
                   problem.message,
                   has_cause ? "put it where all threads of the block come: behind the ENDIF or "
                               "ENDFOR, with the condition around the rest alone"
                             : "see docs/reference/px.md");
  }
}

}  // namespace

std::optional<Lowered> lower(const syntax::File& file, const Source& source,
                             Diagnostics& diagnostics) {
  Lowered lowered{ir::Module(source.name()), {}};
  Lowering lowering{source, diagnostics, lowered.module};
  lowering.forgives_unknown_names = diagnostics.has_errors();
  FileLowering(file, lowering, lowered.host).run();
  if (!diagnostics.has_errors()) add_launches(lowered.module, lowered.host, source);
  if (!diagnostics.has_errors()) report_problems(lowering);
  if (!diagnostics.has_errors()) return lowered;
  diagnostics.drop_warnings();
  return std::nullopt;
}

std::optional<Lowered> read(const Source& source, Diagnostics& diagnostics) {
  const syntax::File file = parse(source, diagnostics);
  return lower(file, source, diagnostics);
}

}  // namespace hoist::px
