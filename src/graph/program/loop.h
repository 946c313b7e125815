// A fused kernel, ready to run: loops over a domain, and short lists of steps that each do one
// operation over a block that stays in the nearest cache.
//
// The domain is `outer` axes, `rows` and `columns`. A block is up to `block_rows` rows of `chunk`
// columns; all columns, or one row. What is reduced is reduced over all columns. Steps are in
// phases: a phase goes over all columns and may use what was reduced in earlier ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/program/compiled_steps.h"
#include "graph/program/graph.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {

enum class Place : uint8_t { input, constant, arena, output, product };

// Memory that a kernel reads or writes, and where the elements of its domain lie there.
struct Operand {
  Place place = Place::input;
  Id node = 0;                // input, constant or computed node
  DType dtype = DType::f32;   // as it lies there
  bool is_converted = false;  // where its lanes do not lie so
  uint8_t item = 4;           // bytes of an element
  int64_t offset = 0;
  Extents outer;  // strides
  int64_t row = 0;
  Extents columns;  // strides of the axes of which columns are made; {s} where s suffices
  // Set by plan():
  size_t index = 0;             // of the input or output
  size_t arena = 0;             // bytes from the arena's beginning
  const void* fixed = nullptr;  // a constant's values
};

// Something that steps read or write: an operand, a register or a column register.
struct Slot {
  enum class Kind : uint8_t { operand, block, row, column } kind = Kind::operand;
  size_t index = 0;    // of the operand; else bytes from the scratch memory's beginning
  int64_t row = 0;     // from a row to the next, in elements
  int64_t column = 0;  // from a column to the next: 0 or 1
  Lanes lanes = Lanes::f32;
  // The same in bytes.
  int64_t row_bytes = 0;
  int64_t column_bytes = 0;
};

struct LoopStep {
  enum class Kind : uint8_t {
    elementwise,
    narrow,   // the same on elements as they lie in memory
    gather,   // operand to slot
    scatter,  // slot to operand
    sum,
    product,
    minimum,
    maximum,
    argmin,
    argmax,
    scan,        // sums of what lies up to each column
    take,        // of inputs[1], an operand, at the places of inputs[0]
    by_columns,  // of an operand whose rows lie beside each other: all its columns at once
    compiled,    // several element-wise steps in one
  };
  Kind kind = Kind::elementwise;
  Op op = Op::copy;
  Step run = nullptr;
  StepTable::ColumnReduction reduce = nullptr;         // of f32
  TypedSteps::ColumnReduction reduce_typed = nullptr;  // of other lanes
  uint32_t inputs[3] = {};                             // slots
  uint32_t output = 0;
  uint8_t scalars = 0;       // inputs that are one number for a row
  bool is_flat = false;      // all rows of a block at once
  uint32_t partial = 0;      // of reductions: their number in the phase
  Lanes lanes = Lanes::f32;  // that are computed with
  DType dtype = DType::f32;  // of an element-wise result
  std::shared_ptr<const CompiledSteps> compiled;
  // The axis of a take: its number, how many elements it has and how far apart they lie.
  int64_t axis = 0;
  int64_t extent = 0;
  int64_t stride = 0;
};

// Whether a row's chunks are added up, or multiplied, at its end.
inline bool is_partial(const LoopStep& step) {
  return step.kind == LoopStep::Kind::sum || step.kind == LoopStep::Kind::product;
}

struct Phase {
  std::vector<LoopStep> columns;  // once a block, on numbers for each row
  std::vector<LoopStep> steps;    // on each block of columns
  size_t reductions = 0;
};

// C = A B for rows of the domain; its columns are C's.
struct LoopProduct {
  uint32_t a = 0;  // operands; their column strides are not used
  uint32_t b = 0;
  uint32_t c = 0;
  size_t depth = 0;
  int64_t a_depth = 0;  // strides
  int64_t b_depth = 0;
  int64_t b_column = 0;
  Lanes lanes = Lanes::f32;
  bool packs_a = false;  // first copied
  bool packs_b = false;
  size_t a_scratch = 0;  // bytes from the scratch memory's beginning
  size_t b_scratch = 0;
  size_t c_scratch = 0;   // where c is Place::product
  size_t block_rows = 0;  // rows of C at a time, at most
  // Rows of a unit of work.
  size_t unit_rows = 0;
};

struct Loop {
  Extents outer;
  int64_t rows = 1;
  Extents column_axes;
  int64_t columns = 1;
  int64_t block_rows = 1;
  int64_t chunk = 1;
  std::vector<Operand> operands;
  std::vector<Slot> slots;
  std::vector<Phase> phases;
  std::optional<LoopProduct> product;
  size_t scratch = 0;  // bytes
};

struct Kernel {
  std::vector<Loop> loops;  // of a concatenation one for each part
  std::vector<Id> members;
  std::vector<Id> outputs;  // nodes that it writes
};

}  // namespace hoist::graph::program
