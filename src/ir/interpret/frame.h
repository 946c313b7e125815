// What the interpreter (ir/interpret.h) keeps for the threads of a block while they go through a
// kernel, and for one thread in a function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::ir {

using Threads = std::vector<uint32_t>;  // numbers in the block, rising

// What all frames of a launch share.
struct Run {
  const Kernel& kernel;
  const Grid& grid;
  uint64_t steps_left;
  std::array<uint32_t, 3> block{};
  std::optional<Fault> fault = {};
};

class Frame {
 public:
  Frame(Run& run, uint32_t threads, const std::deque<Array>& arrays);

  void bind(const Parameter* parameter, uint64_t bits) { parameters_[parameter] = bits; }
  void bind(const Array* array, const Argument& argument) {
    arrays_[array] = {static_cast<std::byte*>(argument.data), argument.length};
  }

  // The threads that are not gone go through the block, statement by statement.
  void run(const Block& block, Threads active);

  // Lane `lane` of the expression's value.
  uint64_t value(const Expression& e, uint32_t thread, int lane = 0);

 private:
  enum class Gone : uint8_t { no, turn, loop, body };
  // An array as it is in memory.
  struct Memory {
    std::byte* data = nullptr;
    uint64_t length = 0;
  };

  // values.cc
  uint64_t* slot(const Variable* variable, uint32_t thread);
  std::array<uint32_t, 3> position(uint32_t thread) const;
  uint64_t id(const Expression& e, uint32_t thread) const;
  uint64_t binary(const Expression& e, uint32_t thread);
  uint64_t call(const Expression& e, uint32_t thread);
  uint64_t load(const Expression& e, uint32_t thread, int lane);

  // memory.cc
  static uint64_t read(const Memory& memory, Scalar type, uint64_t index);
  static void write(const Memory& memory, Scalar type, uint64_t index, uint64_t bits);
  Memory memory(const Array* array, uint32_t thread);
  // Where the elements from `index` on lie in the array; a fault where they do not.
  std::optional<uint64_t> element(const Array* array, const Expression& index, int lanes,
                                  uint64_t length, uint32_t thread);
  void store(const Store& s, uint32_t thread);
  void atomic(const Atomic& s, uint32_t thread);

  // statements.cc
  void set(const Variable* variable, const Expression& e, const Threads& active);
  void step(const Statement& statement, const Threads& active);
  void leave(const Threads& active, Gone how);
  template <typename BeginsTurn>
  void repeat(Threads active, const Block& body, Place place, BeginsTurn begins_turn);
  void count(const For& s, const Threads& active);

  // collective.cc
  std::vector<uint64_t> values(const Expression& e, const Threads& active);
  void shuffle(const Shuffle& s, const Threads& active);
  void ballot(const Ballot& s, const Threads& active);
  void reduce(const Reduce& s, const Threads& active);

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

}  // namespace hoist::ir
