#include "px/place/work.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/arithmetic.h"
#include "ir/statement.h"
#include "px/lower/evaluate.h"

namespace hoist::px {
namespace {

using Kind = ir::Expression::Kind;

// Weights, in additions.
constexpr double kDivision = 8;
constexpr double kSquareRoot = 8;
constexpr double kFunction = 16;  // exp and its like
constexpr double kPower = 32;
constexpr double kExchange = 2;  // between the threads of a warp
constexpr double kWarpReduction = 5;
constexpr double kBlockReduction = 10;
constexpr double kAtomic = 8;

double weight(const ir::Expression& e) {
  switch (e.kind) {
    case Kind::binary:
      return e.binary_operator() == ir::BinaryOperator::divide ||
                     e.binary_operator() == ir::BinaryOperator::remainder
                 ? kDivision
                 : 1;
    case Kind::builtin:
      if (e.builtin() == ir::Builtin::power) return kPower;
      if (e.builtin() == ir::Builtin::square_root) return kSquareRoot;
      return ir::is_exact(e.builtin()) ? 1 : kFunction;
    case Kind::load:
    case Kind::unary:
    case Kind::compare:
    case Kind::cast:
    case Kind::select:
      return 1;
    default:
      return 0;
  }
}

class Counter {
 public:
  Counter(const ir::Kernel& kernel, const ir::Grid& grid, std::span<const ir::Argument> arguments)
      : kernel_(kernel), grid_(grid), arguments_(arguments) {
    known_.parameter = [this](const ir::Parameter& parameter) { return scalar(parameter); };
    known_.length = [this](const ir::Array& array) { return length(array); };
    known_.id = [this](ir::Id id, int dimension) { return of_first_thread(id, dimension); };
  }

  double count(const ir::Block& block) {
    double sum = 0;
    for (const ir::Statement& statement : block) {
      sum += ir::match(statement, [this](const auto& node) { return of(node); });
    }
    return sum;
  }
  bool is_whole() const { return is_whole_; }
  double scalar_operations() const { return scalar_; }

 private:
  std::optional<uint64_t> scalar(const ir::Parameter& parameter) const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (kernel_.arguments[i].scalar == &parameter) return arguments_[i].bits;
    }
    return std::nullopt;
  }
  std::optional<uint64_t> length(const ir::Array& array) const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (kernel_.arguments[i].array == &array) return arguments_[i].length;
    }
    return std::nullopt;
  }
  std::optional<uint64_t> of_first_thread(ir::Id id, int dimension) const {
    const auto d = static_cast<size_t>(dimension);
    if (id == ir::Id::block_size) return grid_.threads[d];
    if (id == ir::Id::grid_size) return grid_.blocks[d];
    return 0;
  }

  std::optional<int64_t> number(const ir::Expression* expression) const {
    const std::optional<uint64_t> bits = evaluate(*expression, known_);
    if (!bits) return std::nullopt;
    return ir::integer_of(expression->type.scalar, *bits);
  }

  double count(const ir::Expression* expression) {
    if (expression == nullptr) return 0;
    if (expression->kind == Kind::select) {
      return 1 + count(expression->operands[0]) +
             std::max(count(expression->operands[1]), count(expression->operands[2]));
    }
    double sum = weight(*expression);
    for (const ir::Expression* operand : expression->operands) sum += count(operand);
    if (expression->kind == Kind::call) sum += count(expression->function->body);
    return sum;
  }

  double of(const ir::Declare& node) { return count(node.value); }
  double of(const ir::Assign& node) { return count(node.value); }
  double of(const ir::Store& node) { return 1 + count(node.index) + count(node.value); }
  double of(const ir::If& node) {
    return count(node.condition) + std::max(count(node.then), count(node.otherwise));
  }
  double of(const ir::For& node) {
    const std::optional<int64_t> from = number(node.from);
    const std::optional<int64_t> to = number(node.to);
    const std::optional<int64_t> step = number(node.step);
    double turns = 1;
    if (from && to && step && *step != 0) {
      const auto distance = static_cast<double>(*to) - static_cast<double>(*from);
      turns = std::max(0.0, std::ceil(distance / static_cast<double>(*step)));
    } else {
      is_whole_ = false;
    }
    const double head = count(node.from) + count(node.to) + count(node.step);
    const double outside = scalar_;
    const double sum = head + turns * (1 + count(node.body));
    const bool is_fixed = node.from->kind == Kind::constant && node.to->kind == Kind::constant &&
                          node.step->kind == Kind::constant;
    scalar_ = outside + (is_fixed ? turns * (scalar_ - outside) : sum);
    return sum;
  }
  double of(const ir::While& node) {
    is_whole_ = false;
    const double outside = scalar_;
    const double sum = count(node.condition) + count(node.body);
    scalar_ = outside + sum;
    return sum;
  }
  double of(const ir::Break&) { return 0; }
  double of(const ir::Continue&) { return 0; }
  double of(const ir::Return& node) { return count(node.value); }
  double of(const ir::Barrier&) { return 1; }
  double of(const ir::Shuffle& node) { return kExchange + count(node.value) + count(node.amount); }
  double of(const ir::Ballot& node) { return kExchange + count(node.condition); }
  double of(const ir::Reduce& node) {
    const bool is_warp = node.scope == ir::Reduce::Scope::warp;
    return (is_warp ? kWarpReduction : kBlockReduction) + count(node.value);
  }
  double of(const ir::Atomic& node) {
    return kAtomic + count(node.index) + count(node.value) + count(node.comparand);
  }

  const ir::Kernel& kernel_;
  const ir::Grid& grid_;
  std::span<const ir::Argument> arguments_;
  Known known_;
  bool is_whole_ = true;
  double scalar_ = 0;
};

}  // namespace

Work work_of(const ir::Kernel& kernel, const ir::Grid& grid,
             std::span<const ir::Argument> arguments) {
  Work work;
  Counter counter(kernel, grid, arguments);
  const double of_thread = counter.count(kernel.body);
  const double threads = static_cast<double>(grid.block_count()) * grid.block_threads();
  work.operations = of_thread * threads;
  work.scalar_operations = counter.scalar_operations() * threads;
  work.is_whole = counter.is_whole();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Array* array = kernel.arguments[i].array;
    if (!array) continue;
    const uint64_t bytes = arguments[i].length * static_cast<uint64_t>(ir::bytes(array->element));
    work.bytes_in += bytes;
    if (array->direction != ir::Direction::in) work.bytes_out += bytes;
  }
  return work;
}

}  // namespace hoist::px
