#include "px/random/kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/arithmetic.h"
#include "ir/verify.h"
#include "px/random/expressions.h"

namespace hoist::px {
namespace {

using ir::Direction;
using ir::Id;
using ir::Reduce;
using ir::Scalar;
using ir::ShuffleKind;
using ir::Term;
using ir::TestKernel;

constexpr int kResults = 4;       // of each type that a thread writes
constexpr int kCounters = 16;     // that atomics add to
constexpr uint64_t kInputs = 96;  // at least
constexpr uint32_t kMostThreads = 96;

// Scalars of 32 and 64 bits, which warps and atomics take.
constexpr Scalar kWide[] = {Scalar::i32, Scalar::u32, Scalar::i64,
                            Scalar::u64, Scalar::f32, Scalar::f64};

class KernelWriter {
 public:
  KernelWriter(ir::Module& module, const std::string& name, RandomSource& random,
               const RandomOptions& options, const std::vector<const ir::Function*>& functions)
      : random_(random), kernel_(module, name), expressions_(module, random) {
    expressions_.functions = functions;
    expressions_.faults = options.faults;
    for (const ir::Array& table : module.tables()) expressions_.arrays.push_back(&table);
    parameters();
    ids();
  }

  void write() {
    statements(10 + random_.below(10), {});
    results();
    kernel_.finish();
  }

 private:
  struct Control {
    bool is_uniform = true;
    bool in_loop = false;         // that only these threads are in
    bool in_shared_loop = false;  // around which control is uniform
    int depth = 0;
  };

  void parameters() {
    for (const Scalar type : {Scalar::i32, Scalar::u8, Scalar::f32, Scalar::f16, Scalar::u64}) {
      expressions_.arrays.push_back(
          kernel_.array(fmt::format("in_{}", ir::name(type)), type, Direction::in));
    }
    const Scalar extra = random_.type();
    expressions_.arrays.push_back(kernel_.array("extra", extra, Direction::in));
    for (int i = 0; i < 3; ++i) {
      const Scalar type = random_.type();
      const Term scalar = kernel_.scalar(fmt::format("p{}", i), type);
      expressions_.known.push_back({scalar, true});
    }
    for (int i = 0; i < 2; ++i) {
      const Scalar type = kWide[random_.below(4)];
      counters_.push_back(kernel_.array(fmt::format("sums{}", i), type, Direction::inout));
    }
    for (int i = 0; i < 3; ++i) {
      outputs_.push_back(kernel_.array(fmt::format("out{}", i), random_.type(), Direction::inout));
    }
    const Scalar own = random_.type();
    own_ = kernel_.local_array("own", own, 4 + static_cast<uint64_t>(random_.below(13)));
    shared_ = kernel_.shared_array("tile", random_.number_type(), kMostThreads);
  }

  void ids() {
    const auto know = [&](Term term, bool is_uniform) {
      expressions_.known.push_back({term, is_uniform});
    };
    // An element of an array is what it was made, not what was there before.
    const Term i =
        kernel_.loop("i", number(0), number(static_cast<double>(own_->count)), number(1));
    kernel_.put(own_, i, expressions_.constant(own_->element));
    kernel_.end();
    expressions_.arrays.push_back(own_);
    know(kernel_.id(Id::thread), false);
    know(kernel_.id(Id::local), false);
    know(kernel_.id(Id::local, 1), false);
    know(kernel_.id(Id::lane), false);
    know(kernel_.id(Id::block), true);
    know(kernel_.id(Id::block, 1), true);
    know(kernel_.id(Id::block_size), true);
    know(kernel_.id(Id::grid_size), true);
    place_ = kernel_.let("place", (kernel_.id(Id::local, 2) * kernel_.id(Id::block_size, 1) +
                                   kernel_.id(Id::local, 1)) *
                                          kernel_.id(Id::block_size) +
                                      kernel_.id(Id::local));
    know(place_, false);
    const Term block =
        (kernel_.id(Id::block, 2) * kernel_.id(Id::grid_size, 1) + kernel_.id(Id::block, 1)) *
            kernel_.id(Id::grid_size) +
        kernel_.id(Id::block);
    const Term size =
        kernel_.id(Id::block_size) * kernel_.id(Id::block_size, 1) * kernel_.id(Id::block_size, 2);
    size_ = kernel_.let("size", size);
    self_ = kernel_.let("self", block * size_ + place_);
    know(self_, false);
  }

  Term number(double value) { return kernel_.number(Scalar::i32, value); }

  void statements(int count, const Control& control) {
    const size_t scope = expressions_.known.size();
    for (int i = 0; i < count; ++i) statement(control);
    expressions_.known.erase(expressions_.known.begin() + static_cast<ptrdiff_t>(scope),
                             expressions_.known.end());
  }

  void statement(const Control& control) {
    const bool may_gather = control.is_uniform && !some_left_;
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return declare(control);
      case 3:
      case 4:
        return assign(control);
      case 5:
        return branch(control);
      case 6:
        return loop(control);
      case 7:
        return put();
      case 8:
        return own();
      case 9:
        return atomic();
      case 10:
        if (may_gather) return exchange();
        return declare(control);
      case 11:
        if (may_gather) return gather();
        return assign(control);
      case 12:
        if (may_gather && random_.one_in(2)) return shared_sum();
        return own();
      case 13:
        return leave(control);
      default:
        return put();
    }
  }

  bool uniformly() { return random_.one_in(3); }

  void declare(const Control& control) {
    const bool uniform = uniformly();
    const Scalar type = random_.type();
    const Term value = expressions_.any(type, 3, uniform);
    if (random_.one_in(2)) {
      expressions_.known.push_back({kernel_.let("v", value), uniform});
      return;
    }
    const Term variable = kernel_.var("m", value);
    // It stays uniform as long as nobody gives it what is not (assign()).
    expressions_.known.push_back({variable, uniform && control.is_uniform && !some_left_});
  }

  void assign(const Control& control) {
    std::vector<Known> mutables;
    for (const Known& each : expressions_.known) {
      const ir::Variable* variable = each.term.expression->variable;
      const bool may = !each.is_uniform || (control.is_uniform && !some_left_);
      if (variable && variable->is_mutable && may) mutables.push_back(each);
    }
    if (mutables.empty()) return;
    const Known target = random_.of(mutables);
    kernel_.set(target.term,
                expressions_.any(target.term.expression->type.scalar, 3, target.is_uniform));
  }

  void branch(Control control) {
    if (control.depth >= 3) return;
    const bool uniform = uniformly();
    const Term condition = expressions_.any(Scalar::boolean, 2, uniform);
    control.is_uniform &= uniform;
    ++control.depth;
    kernel_.when(condition);
    statements(1 + random_.below(4), control);
    if (random_.one_in(2)) {
      kernel_.begin_else();
      statements(1 + random_.below(3), control);
    }
    kernel_.end();
  }

  void loop(Control control) {
    if (control.depth >= 2) return;
    // Uniform counts and steps; any thread may have its own begin.
    const bool uniform = random_.one_in(2);
    constexpr Scalar kTypes[] = {Scalar::i32, Scalar::i64, Scalar::u8, Scalar::u32};
    const Scalar type = kTypes[random_.below(4)];
    const Term from =
        uniform ? kernel_.number(type, random_.below(3)) : expressions_.any(type, 2, false) % 5;
    const Term step = kernel_.number(type, 1 + random_.below(3));
    const Term turns = from + step * (1 + random_.below(5));
    const bool is_down = ir::is_signed(type) && random_.one_in(4);
    control.in_shared_loop = control.is_uniform && uniform;
    control.in_loop = !control.in_shared_loop;
    control.is_uniform &= uniform;
    ++control.depth;
    const Term counter =
        is_down ? kernel_.loop("i", turns, from, -step) : kernel_.loop("i", from, turns, step);
    expressions_.known.push_back({counter, control.is_uniform && !some_left_});
    // What is uniform before the loop need not be in its later turns; assignments keep it so.
    statements(1 + random_.below(4), control);
    kernel_.end();
    expressions_.known.pop_back();
  }

  void put() {
    const ir::Array* output = random_.of(outputs_);
    const Term index = self_ * kResults + random_.below(kResults);
    kernel_.put(output, index, expressions_.any(output->element, 3, false));
  }

  void own() {
    kernel_.put(own_, expressions_.index(own_, 1, false),
                expressions_.any(own_->element, 3, false));
  }

  void atomic() {
    const ir::Array* sums = random_.of(counters_);
    const Term index = (expressions_.any(Scalar::u32, 1, false) % kCounters).as(Scalar::i32);
    constexpr ir::AtomicOperator kOperators[] = {
        ir::AtomicOperator::add,     ir::AtomicOperator::add,     ir::AtomicOperator::add,
        ir::AtomicOperator::bit_xor, ir::AtomicOperator::minimum, ir::AtomicOperator::maximum};
    // One operator an array: only then their order does not matter.
    const auto op = kOperators[sums->name.back() == '0' ? 0 : 3];
    (void)kernel_.atomic("", op, sums, index, expressions_.any(sums->element, 2, false)).value();
  }

  // Each thread gets what another one has written.
  void exchange() {
    kernel_.put(shared_, place_, expressions_.any(shared_->element, 3, false));
    kernel_.barrier();
    const Term other = (place_ + random_.below(40)) % size_;
    expressions_.known.push_back({kernel_.let("got", kernel_.load(shared_, other)), false});
    kernel_.barrier();
  }

  void shared_sum() {
    const Scalar type = kWide[random_.below(4)];
    const ir::Array* sums = kernel_.shared_array("sums", type, static_cast<uint64_t>(kCounters));
    const Term zero = number(0);
    kernel_.when(place_ == 0);
    const Term i = kernel_.loop("i", zero, number(kCounters), number(1));
    kernel_.put(sums, i, kernel_.number(type, 0));
    kernel_.end();
    kernel_.end();
    kernel_.barrier();
    const Term index = (expressions_.any(Scalar::u32, 2, false) % kCounters).as(Scalar::i32);
    (void)kernel_.atomic("", ir::AtomicOperator::add, sums, index, expressions_.any(type, 2, false))
        .value();
    kernel_.barrier();
    const Term got = kernel_.let("total", kernel_.load(sums, number(random_.below(kCounters))));
    expressions_.known.push_back({got, true});
    kernel_.barrier();
  }

  void gather() {
    const Scalar type = kWide[random_.below(6)];
    switch (random_.below(4)) {
      case 0: {
        const auto kind = static_cast<ShuffleKind>(random_.below(4));
        const Scalar any = random_.number_type();
        const Term amount = expressions_.any(Scalar::i32, 1, false);
        expressions_.known.push_back({kernel_.shuffled(kind, expressions_.any(any, 3, false),
                                                       random_.one_in(4) ? amount : amount % 32),
                                      false});
        return;
      }
      case 1:
        expressions_.known.push_back(
            {kernel_.balloted(expressions_.any(Scalar::boolean, 2, false)), false});
        return;
      default: {
        const bool is_block = random_.one_in(2);
        const auto op = static_cast<ir::ReduceOperator>(random_.below(ir::is_float(type) ? 3 : 6));
        expressions_.known.push_back(
            {kernel_.reduced(is_block ? Reduce::Scope::block : Reduce::Scope::warp, op,
                             expressions_.any(type, 3, false)),
             is_block});
      }
    }
  }

  // Some threads, or all, leave a loop, a turn or the kernel.
  void leave(const Control& control) {
    if (random_.one_in(2)) return;
    const bool uniform = random_.one_in(2) && control.is_uniform && !some_left_;
    if (control.in_loop && !control.in_shared_loop) {
      kernel_.when(expressions_.any(Scalar::boolean, 2, false));
      if (random_.one_in(6)) {
        kernel_.return_thread();
        some_left_ = true;
      } else {
        random_.one_in(2) ? kernel_.leave() : kernel_.next();
      }
      kernel_.end();
    } else if (control.in_shared_loop && uniform) {
      kernel_.when(expressions_.any(Scalar::boolean, 2, true));
      random_.one_in(2) ? kernel_.leave() : kernel_.next();
      kernel_.end();
    } else if (random_.one_in(6) && control.depth < 2 && !control.in_shared_loop) {
      kernel_.when(expressions_.any(Scalar::boolean, 3, uniform));
      if (random_.one_in(2)) put();
      kernel_.return_thread();
      kernel_.end();
      some_left_ |= !uniform || !control.is_uniform;
    }
  }

  // So that nothing that was computed is without a trace.
  void results() {
    int number = 0;
    for (const Known& each : expressions_.known) {
      const ir::Array* output = outputs_[static_cast<size_t>(number % 3)];
      const Term index = self_ * kResults + number % kResults;
      if (each.term.expression->type == output->element) kernel_.put(output, index, each.term);
      ++number;
    }
  }

  RandomSource& random_;
  TestKernel kernel_;
  RandomExpressions expressions_;
  std::vector<const ir::Array*> counters_;
  std::vector<const ir::Array*> outputs_;
  const ir::Array* own_ = nullptr;
  const ir::Array* shared_ = nullptr;
  Term place_ = {}, size_ = {}, self_ = {};
  bool some_left_ = false;
};

const ir::Function* write_function(ir::Module& module, int number, RandomSource& random,
                                   const std::vector<const ir::Function*>& earlier) {
  ir::Expressions& make = module.expressions();
  const Scalar result = random.type();
  ir::FunctionBuilder function(module, fmt::format("f{}", number), result);
  RandomExpressions expressions(module, random);
  expressions.functions = earlier;
  for (const ir::Array& table : module.tables()) expressions.arrays.push_back(&table);
  for (int i = 0; i < 2 + random.below(2); ++i) {
    const ir::Parameter* parameter = function.parameter(fmt::format("a{}", i), random.type());
    expressions.known.push_back({{&make, make.parameter(parameter)}, false});
  }
  const auto any = [&](Scalar type, int depth) { return expressions.any(type, depth, false); };
  const Term sum = {&make, make.variable(function.declare_mutable("sum", any(result, 2)))};
  expressions.known.push_back({sum, false});
  (void)function.begin_if(any(Scalar::boolean, 2));
  (void)function.return_value(any(result, 2));
  function.end();
  const Term zero = expressions.number(Scalar::i32, 0);
  const auto counter = function.begin_for("i", zero, zero + (1 + random.below(4)), zero + 1);
  expressions.known.push_back({{&make, make.variable(*counter)}, false});
  (void)function.assign(sum.expression->variable, any(result, 2));
  function.end();
  expressions.known.pop_back();
  (void)function.return_value(any(result, 2));
  return function.finish();
}

uint64_t length_of(const ir::Array& array, const ir::Grid& grid) {
  if (array.direction == Direction::in) return kInputs;
  if (array.name.starts_with("sums")) return kCounters;
  return grid.block_count() * grid.block_threads() * kResults;
}

}  // namespace

ir::Module random_module(uint64_t seed, const RandomOptions& options) {
  RandomSource random(seed);
  ir::Module module(fmt::format("seed {}", seed));
  for (int i = 0; i < 3; ++i) {
    const Scalar type = random.type();
    std::vector<uint64_t> values(static_cast<size_t>(1 + random.below(20)));
    for (uint64_t& value : values) value = random_value(random, type);
    module.add_table(fmt::format("t{}", i), type, std::move(values));
  }
  std::vector<const ir::Function*> functions;
  for (int i = 0; i < 3; ++i) functions.push_back(write_function(module, i, random, functions));
  for (int i = 0; i < options.kernels; ++i) {
    KernelWriter(module, fmt::format("k{}", i), random, options, functions).write();
  }
  return module;
}

std::vector<ir::Argument> RandomLaunch::arguments(const ir::Kernel& kernel) {
  std::vector<ir::Argument> list;
  size_t array = 0;
  size_t scalar = 0;
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (argument.array) {
      list.push_back(ir::Argument::array(arrays[array].data(), arrays[array].length));
      ++array;
    } else {
      list.push_back(ir::Argument::scalar(scalars[scalar++]));
    }
  }
  return list;
}

RandomLaunch random_launch(const ir::Kernel& kernel, uint64_t seed) {
  RandomSource random(seed);
  constexpr std::array<uint32_t, 3> kBlocks[] = {{1, 1, 1}, {32, 1, 1}, {37, 1, 1}, {96, 1, 1},
                                                 {8, 3, 2}, {5, 5, 1},  {64, 1, 1}};
  RandomLaunch launch;
  launch.grid.threads = kBlocks[random.below(7)];
  launch.grid.blocks = {1 + static_cast<uint32_t>(random.below(3)),
                        1 + static_cast<uint32_t>(random.below(2)), 1};
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (!argument.array) {
      launch.scalars.push_back(random_value(random, argument.scalar->type.scalar));
      continue;
    }
    RandomLaunch::Memory memory = {
        argument.array->element, length_of(*argument.array, launch.grid), {}};
    memory.words.resize(memory.bytes() / 8 + 4);
    auto* bytes = reinterpret_cast<std::byte*>(memory.words.data());
    const auto size = static_cast<size_t>(ir::bytes(memory.element));
    for (uint64_t i = 0; i < memory.length; ++i) {
      const uint64_t value = random_value(random, memory.element);
      std::memcpy(bytes + i * size, &value, size);
    }
    launch.arrays.push_back(std::move(memory));
  }
  return launch;
}

std::string first_difference(const ir::Kernel& kernel, const RandomLaunch& left,
                             const RandomLaunch& right) {
  size_t number = 0;
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (!argument.array) continue;
    const RandomLaunch::Memory& a = left.arrays[number];
    const RandomLaunch::Memory& b = right.arrays[number];
    ++number;
    const auto size = static_cast<size_t>(ir::bytes(a.element));
    for (uint64_t i = 0; i < a.length; ++i) {
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, static_cast<const std::byte*>(a.data()) + i * size, size);
      std::memcpy(&y, static_cast<const std::byte*>(b.data()) + i * size, size);
      const auto is_nan = [&](uint64_t bits) {
        return ir::is_float(a.element) && std::isnan(ir::real_of(a.element, bits));
      };
      if (x == y || (is_nan(x) && is_nan(y))) continue;
      return fmt::format("{}[{}]: {:#x} and {:#x}", argument.name(), i, x, y);
    }
  }
  return {};
}

}  // namespace hoist::px
