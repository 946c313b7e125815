#include "ir/interpret.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/arithmetic.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;
using Threads = std::vector<uint32_t>;  // numbers in the block, rising

constexpr size_t kLanes = 16;  // of the widest vector

// What all frames of a launch share.
struct Run {
  const Kernel& kernel;
  const Grid& grid;
  std::span<const Argument> arguments;
  uint64_t steps_left;
  std::array<uint32_t, 3> block{};
  std::optional<Fault> fault = {};
};

// An array as it is in memory.
struct Memory {
  std::byte* data = nullptr;
  uint64_t length = 0;
};

uint64_t read(const Memory& memory, Scalar type, uint64_t index) {
  const auto size = static_cast<size_t>(bytes(type));
  uint64_t bits = 0;
  std::memcpy(&bits, memory.data + index * size, size);
  return type == Scalar::boolean ? bits != 0 : bits;
}

void write(const Memory& memory, Scalar type, uint64_t index, uint64_t bits) {
  const auto size = static_cast<size_t>(bytes(type));
  std::memcpy(memory.data + index * size, &bits, size);
}

// The threads of one block in a kernel, or one thread in a function.
class Frame {
 public:
  Frame(Run& run, uint32_t threads, const std::deque<Array>& arrays)
      : run_(run), threads_(threads), gone_(threads) {
    for (const Array& array : arrays) {
      if (array.space == Space::global) continue;
      const uint64_t copies = array.space == Space::local ? threads : 1;
      own_arrays_[&array].resize(array.count * copies *
                                 static_cast<uint64_t>(bytes(array.element)));
    }
  }

  void bind(const Parameter* parameter, uint64_t bits) { parameters_[parameter] = bits; }
  void bind(const Array* array, const Argument& argument) {
    arrays_[array] = {static_cast<std::byte*>(argument.data), argument.length};
  }

  // The threads that are not gone go through the block.
  void run(const Block& block, Threads active) {
    for (const Statement& statement : block) {
      if (active.empty() || run_.steps_left == 0) return;
      run_.steps_left -= std::min<uint64_t>(run_.steps_left, active.size());
      place_ = statement.place;
      step(statement, active);
      std::erase_if(active, [&](uint32_t thread) { return gone_[thread] != Gone::no; });
    }
  }

  // Lane `lane` of the expression's value.
  uint64_t value(const Expression& e, uint32_t thread, int lane = 0) {
    const auto operand = [&](size_t i) { return value(*e.operands[i], thread); };
    const auto operand_type = [&](size_t i) { return e.operands[i]->type.scalar; };
    switch (e.kind) {
      case Kind::constant:
        return e.bits;
      case Kind::parameter:
        return parameters_.at(e.parameter);
      case Kind::variable:
        return slot(e.variable, thread)[static_cast<size_t>(lane)];
      case Kind::id:
        return id(e, thread);
      case Kind::length:
        return arrays_.at(e.array).length;
      case Kind::load:
        return load(e, thread, lane);
      case Kind::unary:
        return unary_bits(e.unary_operator(), e.type.scalar, operand(0));
      case Kind::binary:
        return binary(e, thread);
      case Kind::compare:
        return compare_bits(e.comparison(), operand_type(0), operand(0), operand(1)) ? 1 : 0;
      case Kind::select:
        return value(*e.operands[operand(0) ? 1 : 2], thread, lane);
      case Kind::cast:
        return cast_bits(operand_type(0), e.type.scalar, operand(0));
      case Kind::bitcast:
        return operand(0);
      case Kind::builtin: {
        std::array<uint64_t, 3> arguments = {};
        for (size_t i = 0; i < e.operands.size(); ++i) arguments[i] = operand(i);
        return builtin_bits(e.builtin(), operand_type(0),
                            std::span(arguments).first(e.operands.size()));
      }
      case Kind::call:
        return call(e, thread);
      case Kind::lane:
        return value(*e.operands[0], thread, e.dimension);
      case Kind::vector:
        return operand(static_cast<size_t>(lane));
    }
    return 0;
  }

 private:
  enum class Gone : uint8_t { no, turn, loop, body };

  uint64_t* slot(const Variable* variable, uint32_t thread) {
    const size_t lanes = variable->type.lanes;
    std::vector<uint64_t>& values = variables_[variable];
    if (values.empty()) values.resize(threads_ * lanes);
    return values.data() + thread * lanes;
  }

  void set(const Variable* variable, const Expression& e, const Threads& active) {
    for (const uint32_t thread : active) {
      // The new value may be made of the old one.
      std::array<uint64_t, kLanes> lanes;
      for (int i = 0; i < e.type.lanes; ++i) lanes[static_cast<size_t>(i)] = value(e, thread, i);
      std::copy_n(lanes.data(), e.type.lanes, slot(variable, thread));
    }
  }

  std::array<uint32_t, 3> position(uint32_t thread) const {
    const auto& extent = run_.grid.threads;
    return {thread % extent[0], thread / extent[0] % extent[1], thread / extent[0] / extent[1]};
  }

  uint64_t id(const Expression& e, uint32_t thread) const {
    const size_t d = e.dimension;
    switch (e.id()) {
      case Id::thread:
        return run_.block[d] * run_.grid.threads[d] + position(thread)[d];
      case Id::block:
        return run_.block[d];
      case Id::local:
        return position(thread)[d];
      case Id::block_size:
        return run_.grid.threads[d];
      case Id::grid_size:
        return run_.grid.blocks[d];
      case Id::lane:
        break;
    }
    return thread % kWarp;
  }

  uint64_t binary(const Expression& e, uint32_t thread) {
    const uint64_t left = value(*e.operands[0], thread);
    if (e.type == Scalar::boolean) {
      if (e.binary_operator() == BinaryOperator::bit_and && left == 0) return 0;
      if (e.binary_operator() == BinaryOperator::bit_or && left == 1) return 1;
    }
    const uint64_t right = value(*e.operands[1], thread);
    return binary_bits(e.binary_operator(), e.type.scalar, left, right, e.operands[1]->type.scalar);
  }

  uint64_t call(const Expression& e, uint32_t thread) {
    const Function& function = *e.function;
    Frame frame(run_, 1, function.arrays);
    for (size_t i = 0; i < e.operands.size(); ++i) {
      frame.bind(function.parameters[i], value(*e.operands[i], thread));
    }
    frame.run(function.body, {0});
    return frame.result_;
  }

  Memory memory(const Array* array, uint32_t thread) {
    if (array->space == Space::global) return arrays_.at(array);
    std::vector<std::byte>& own = own_arrays_.at(array);
    const uint64_t begin =
        array->space == Space::local ? thread * array->count * bytes(array->element) : 0;
    return {own.data() + begin, array->count};
  }

  // Where the elements from `index` on lie in the array; a fault where they do not.
  std::optional<uint64_t> element(const Array* array, const Expression& index, int lanes,
                                  uint64_t length, uint32_t thread) {
    const uint64_t bits = value(index, thread);
    const bool is_negative =
        is_signed(index.type.scalar) && integer_of(index.type.scalar, bits) < 0;
    const auto count = static_cast<uint64_t>(lanes);
    if (!is_negative && bits < length / count) return bits * count;
    if (!run_.fault) {
      const auto number = static_cast<uint64_t>(integer_of(index.type.scalar, bits));
      run_.fault = {place_, run_.kernel.name, array->name,     static_cast<int64_t>(number * count),
                    length, run_.block,       position(thread)};
    }
    return std::nullopt;
  }

  uint64_t load(const Expression& e, uint32_t thread, int lane) {
    const Expression& index = *e.operands[0];
    if (e.array->space == Space::constant) {
      const auto at = element(e.array, index, e.type.lanes, e.array->count, thread);
      return at ? e.array->values[*at + static_cast<uint64_t>(lane)] : 0;
    }
    const Memory from = memory(e.array, thread);
    const auto at = element(e.array, index, e.type.lanes, from.length, thread);
    return at ? read(from, e.array->element, *at + static_cast<uint64_t>(lane)) : 0;
  }

  void store(const Store& s, uint32_t thread) {
    const Memory to = memory(s.array, thread);
    const int lanes = s.value->type.lanes;
    std::array<uint64_t, kLanes> values;
    for (int i = 0; i < lanes; ++i) values[static_cast<size_t>(i)] = value(*s.value, thread, i);
    const auto at = element(s.array, *s.index, lanes, to.length, thread);
    if (!at) return;
    for (int i = 0; i < lanes; ++i) {
      write(to, s.array->element, *at + static_cast<uint64_t>(i), values[static_cast<size_t>(i)]);
    }
  }

  void step(const Statement& statement, const Threads& active) {
    match(
        statement, [&](const Declare& s) { set(s.variable, *s.value, active); },
        [&](const Assign& s) { set(s.variable, *s.value, active); },
        [&](const Store& s) {
          for (const uint32_t thread : active) store(s, thread);
        },
        [&](const If& s) {
          Threads yes, no;
          for (const uint32_t thread : active) {
            (value(*s.condition, thread) ? yes : no).push_back(thread);
          }
          run(s.then, std::move(yes));
          run(s.otherwise, std::move(no));
        },
        [&](const For& s) { count(s, active); },
        [&](const While& s) {
          repeat(active, s.body, statement.place,
                 [&](uint32_t thread) { return value(*s.condition, thread) != 0; });
        },
        [&](const Break&) { leave(active, Gone::loop); },
        [&](const Continue&) { leave(active, Gone::turn); },
        [&](const Return& s) {
          if (s.value) result_ = value(*s.value, 0);
          leave(active, Gone::body);
        },
        [](const Barrier&) {}, [&](const Shuffle& s) { shuffle(s, active); },
        [&](const Ballot& s) { ballot(s, active); }, [&](const Reduce& s) { reduce(s, active); },
        [&](const Atomic& s) {
          for (const uint32_t thread : active) atomic(s, thread);
        });
  }

  void leave(const Threads& active, Gone how) {
    for (const uint32_t thread : active) gone_[thread] = how;
  }

  // `begins_turn` says for each thread in turn whether it goes on.
  template <typename BeginsTurn>
  void repeat(Threads active, const Block& body, Place place, BeginsTurn begins_turn) {
    const Threads all = active;
    while (run_.steps_left > 0) {
      place_ = place;
      std::erase_if(active, [&](uint32_t thread) { return !begins_turn(thread); });
      if (active.empty()) break;
      run_.steps_left -= 1;
      run(body, active);
      std::erase_if(active, [&](uint32_t thread) {
        if (gone_[thread] == Gone::turn) gone_[thread] = Gone::no;
        return gone_[thread] != Gone::no;
      });
    }
    for (const uint32_t thread : all) {
      if (gone_[thread] == Gone::loop) gone_[thread] = Gone::no;
    }
  }

  void count(const For& s, const Threads& active) {
    const Scalar type = s.variable->type.scalar;
    struct Counter {
      uint64_t next, to, step;
      bool ended = false;
    };
    std::vector<Counter> counters(threads_);
    for (const uint32_t thread : active) {
      counters[thread] = {value(*s.from, thread), value(*s.to, thread), value(*s.step, thread)};
    }
    repeat(active, s.body, place_, [&](uint32_t thread) {
      Counter& counter = counters[thread];
      const bool down = is_signed(type) && integer_of(type, counter.step) < 0;
      const Comparison before = down ? Comparison::greater : Comparison::less;
      if (counter.ended || counter.step == 0 ||
          !compare_bits(before, type, counter.next, counter.to)) {
        return false;
      }
      *slot(s.variable, thread) = counter.next;
      const uint64_t next =
          binary_bits(BinaryOperator::add, type, counter.next, counter.step, type);
      counter.ended = !compare_bits(before, type, counter.next, next);  // wrapped
      counter.next = next;
      return true;
    });
  }

  // The value of each active thread.
  std::vector<uint64_t> values(const Expression& e, const Threads& active) {
    std::vector<uint64_t> list(threads_);
    for (const uint32_t thread : active) list[thread] = value(e, thread);
    return list;
  }

  void shuffle(const Shuffle& s, const Threads& active) {
    const std::vector<uint64_t> given = values(*s.value, active);
    for (const uint32_t thread : active) {
      const int64_t lane = thread % kWarp;
      const int64_t amount = integer_of(Scalar::i32, value(*s.amount, thread));
      int64_t from = 0;
      switch (s.kind) {
        case ShuffleKind::index:
          from = amount;
          break;
        case ShuffleKind::up:
          from = lane - amount;
          break;
        case ShuffleKind::down:
          from = lane + amount;
          break;
        case ShuffleKind::exclusive_or:
          from = lane ^ amount;
          break;
      }
      const int64_t source = thread - lane + from;
      const bool is_there = from >= 0 && from < kWarp && source < int64_t{threads_};
      *slot(s.result, thread) = given[is_there ? static_cast<size_t>(source) : thread];
    }
  }

  void ballot(const Ballot& s, const Threads& active) {
    std::vector<uint64_t> votes((threads_ + kWarp - 1) / kWarp);
    for (const uint32_t thread : active) {
      votes[thread / kWarp] |= value(*s.condition, thread) << (thread % kWarp);
    }
    for (const uint32_t thread : active) *slot(s.result, thread) = votes[thread / kWarp];
  }

  // Reduces at most 32 values, in the order of ir/statement.h.
  static uint64_t combine(std::span<uint64_t> values, ReduceOperator op, Scalar type) {
    for (size_t distance = kWarp / 2; distance > 0; distance /= 2) {
      for (size_t i = 0; i < distance && i + distance < values.size(); ++i) {
        values[i] = binary_bits(binary_operator(op), type, values[i], values[i + distance], type);
      }
    }
    return values[0];
  }

  void reduce(const Reduce& s, const Threads& active) {
    std::vector<uint64_t> given = values(*s.value, active);
    const Scalar type = s.value->type.scalar;
    std::vector<uint64_t> warps;
    for (size_t begin = 0; begin < given.size(); begin += kWarp) {
      const size_t size = std::min<size_t>(kWarp, given.size() - begin);
      warps.push_back(combine(std::span(given).subspan(begin, size), s.op, type));
    }
    const bool is_block = s.scope == Reduce::Scope::block;
    if (is_block) combine(warps, s.op, type);
    for (const uint32_t thread : active) {
      *slot(s.result, thread) = warps[is_block ? 0 : thread / kWarp];
    }
  }

  void atomic(const Atomic& s, uint32_t thread) {
    const Scalar type = s.array->element;
    const uint64_t operand = value(*s.value, thread);
    const uint64_t comparand = s.comparand ? value(*s.comparand, thread) : 0;
    const Memory memory_of = memory(s.array, thread);
    const auto at = element(s.array, *s.index, 1, memory_of.length, thread);
    const uint64_t old = at ? read(memory_of, type, *at) : 0;
    if (at) write(memory_of, type, *at, updated(s.op, type, old, operand, comparand));
    if (s.old) *slot(s.old, thread) = old;
  }

  static uint64_t updated(AtomicOperator op, Scalar type, uint64_t old, uint64_t operand,
                          uint64_t comparand) {
    const auto apply = [&](BinaryOperator binary) {
      return binary_bits(binary, type, old, operand, type);
    };
    switch (op) {
      case AtomicOperator::add:
        return apply(BinaryOperator::add);
      case AtomicOperator::minimum:
        return apply(BinaryOperator::minimum);
      case AtomicOperator::maximum:
        return apply(BinaryOperator::maximum);
      case AtomicOperator::bit_and:
        return apply(BinaryOperator::bit_and);
      case AtomicOperator::bit_or:
        return apply(BinaryOperator::bit_or);
      case AtomicOperator::bit_xor:
        return apply(BinaryOperator::bit_xor);
      case AtomicOperator::exchange:
        return operand;
      case AtomicOperator::compare_exchange:
        break;
    }
    return old == comparand ? operand : old;
  }

  Run& run_;
  const uint32_t threads_;
  Place place_;
  uint64_t result_ = 0;  // of a function
  std::vector<Gone> gone_;
  std::unordered_map<const Variable*, std::vector<uint64_t>> variables_;
  std::unordered_map<const Parameter*, uint64_t> parameters_;
  std::unordered_map<const Array*, Memory> arrays_;
  std::unordered_map<const Array*, std::vector<std::byte>> own_arrays_;
};

void bind(Frame& frame, const Kernel& kernel, std::span<const Argument> arguments) {
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Kernel::Argument& to = kernel.arguments[i];
    if (to.array) {
      frame.bind(to.array, arguments[i]);
    } else {
      frame.bind(to.scalar, arguments[i].bits & mask(to.scalar->type.scalar));
    }
  }
}

Threads all_threads(uint32_t count) {
  Threads threads(count);
  for (uint32_t i = 0; i < count; ++i) threads[i] = i;
  return threads;
}

}  // namespace

Result<std::optional<Fault>> interpret(const Kernel& kernel, const Grid& grid,
                                       std::span<const Argument> arguments,
                                       const InterpretOptions& options) {
  if (Status can = check_launch(kernel, grid, arguments); !can) return can.error();
  Run run = {kernel, grid, arguments, options.most_steps};
  const Threads threads = all_threads(grid.block_threads());
  for (uint32_t z = 0; z < grid.blocks[2]; ++z) {
    for (uint32_t y = 0; y < grid.blocks[1]; ++y) {
      for (uint32_t x = 0; x < grid.blocks[0]; ++x) {
        run.block = {x, y, z};
        Frame frame(run, grid.block_threads(), kernel.arrays);
        bind(frame, kernel, arguments);
        frame.run(kernel.body, threads);
        if (run.steps_left == 0) {
          return fail(ErrorCode::exhausted, fmt::format("{} did not end within {} steps",
                                                        kernel.name, options.most_steps));
        }
      }
    }
  }
  return run.fault;
}

uint64_t evaluate(const Expression& expression, const Kernel& kernel,
                  std::span<const Argument> arguments) {
  const Grid grid;
  Run run = {kernel, grid, arguments, 0};
  Frame frame(run, 1, {});
  bind(frame, kernel, arguments);
  return frame.value(expression, 0);
}

}  // namespace hoist::ir
