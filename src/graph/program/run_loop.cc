#include "graph/program/run_loop.h"

#include <algorithm>
#include <new>

#include "graph/program/move.h"
#include "graph/program/reduce_block.h"
#include "graph/program/run_product.h"
#include "graph/program/take.h"

namespace hoist::graph::program {
namespace {

size_t most_reductions(const Loop& loop) {
  size_t most = 0;
  for (const Phase& phase : loop.phases) most = std::max(most, phase.reductions);
  return most;
}

bool is_cut_by_columns(const Loop& loop) {
  return !loop.product && loop.outer.empty() && loop.rows == 1 && loop.phases.size() == 1 &&
         loop.phases[0].reductions == 0 && loop.phases[0].columns.empty();
}

// Units that share a place of the outer axes. The last one of a product has the rest of the rows.
int64_t groups_of_rows(const Loop& loop) {
  if (loop.product) {
    return std::max<int64_t>(1, loop.rows / static_cast<int64_t>(loop.product->unit_rows));
  }
  return (loop.rows + loop.block_rows - 1) / loop.block_rows;
}

class Run {
 public:
  Run(const Loop& loop, const Memory& memory, std::byte* scratch)
      : loop_(loop), fault_(memory.fault) {
    scratch_ = scratch;
    at_ = reinterpret_cast<std::byte**>(scratch + loop.scratch);
    bases_ = at_ + loop.slots.size();
    origins_ = bases_ + loop.operands.size();
    partials_ = reinterpret_cast<Partial*>(origins_ + loop.operands.size());
    for (size_t i = 0; i < loop.operands.size(); ++i) bases_[i] = base(memory, loop.operands[i]);
    for (size_t i = 0; i < loop.slots.size(); ++i) at_[i] = scratch + loop.slots[i].index;
  }

  void units(int64_t begin, int64_t end) {
    if (is_cut_by_columns(loop_)) {
      set_origins(0);
      const int64_t chunk = loop_.chunk;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i * chunk;
        block(loop_.phases[0], 0, 1, column, std::min(chunk, loop_.columns - column));
      }
      return;
    }
    const int64_t groups = groups_of_rows(loop_);
    const int64_t rows =
        loop_.product ? static_cast<int64_t>(loop_.product->unit_rows) : loop_.block_rows;
    for (int64_t i = begin; i < end;) {
      const int64_t outer = i / groups;
      const int64_t last = std::min(end, (outer + 1) * groups);
      const bool has_rest = last == (outer + 1) * groups;
      set_origins(outer);
      some_rows(i % groups * rows, has_rest ? loop_.rows : (last - outer * groups) * rows);
      i = last;
    }
  }

 private:
  std::byte* base(const Memory& memory, const Operand& operand) const {
    const auto bytes = [](const void* at) {
      return static_cast<std::byte*>(const_cast<void*>(at));
    };
    switch (operand.place) {
      case Place::input:
        return bytes(memory.inputs[operand.index]);
      case Place::constant:
        return bytes(operand.fixed);
      case Place::arena:
        return memory.arena + operand.arena;
      case Place::output:
        return bytes(memory.outputs[operand.index]);
      case Place::product:
        break;
    }
    return scratch_ + loop_.product->c_scratch;
  }

  // Where the operands begin for a place of the outer axes.
  void set_origins(int64_t outer) {
    for (size_t k = 0; k < loop_.operands.size(); ++k) {
      const Operand& operand = loop_.operands[k];
      int64_t offset = operand.offset;
      int64_t rest = outer;
      for (size_t i = loop_.outer.size(); i-- > 0;) {
        offset += rest % loop_.outer[i] * operand.outer[i];
        rest /= loop_.outer[i];
      }
      origins_[k] = bases_[k] + offset * operand.item;
    }
  }

  void some_rows(int64_t begin, int64_t end) {
    if (!loop_.product) return blocks(begin, end);
    // Parts of about the same size: none of them is small.
    const auto most = static_cast<int64_t>(loop_.product->block_rows);
    const int64_t parts = (end - begin + most - 1) / most;
    for (int64_t i = 0; i < parts; ++i) {
      first_ = begin + (end - begin) * i / parts;
      const int64_t last = begin + (end - begin) * (i + 1) / parts;
      run_product(loop_, origins_, scratch_, first_, last, packed_);
      blocks(first_, last);
    }
  }

  void blocks(int64_t first, int64_t last) {
    if (loop_.phases.empty()) return;
    for (int64_t row = first; row < last; row += loop_.block_rows) {
      const int64_t rows = std::min(loop_.block_rows, last - row);
      for (const Phase& phase : loop_.phases) {
        if (!phase.columns.empty()) {
          set_slots(row, 0);
          for (const LoopStep& step : phase.columns) on_columns(step, row, rows);
        }
        if (phase.steps.empty()) continue;
        for (size_t i = 0; i < phase.reductions; ++i) partials_[i].chunks = partials_[i].depth = 0;
        for (int64_t column = 0; column < loop_.columns; column += loop_.chunk) {
          block(phase, row, rows, column, std::min(loop_.chunk, loop_.columns - column));
        }
        if (phase.reductions != 0 && loop_.chunk < loop_.columns) finish_sums(phase, row);
      }
    }
  }

  // The row of an operand that counts as its first: a product's place begins with its first.
  int64_t row_in(const Operand& operand, int64_t row) const {
    return operand.place == Place::product ? row - first_ : row;
  }

  void set_slots(int64_t row, int64_t column) {
    for (size_t i = 0; i < loop_.slots.size(); ++i) {
      const Slot& slot = loop_.slots[i];
      if (slot.kind == Slot::Kind::operand) {
        const Operand& operand = loop_.operands[slot.index];
        if (operand.is_converted) {  // for compiled steps, which have them where they lie well
          at_[i] = origins_[slot.index] +
                   (row_in(operand, row) * slot.row + column * slot.column) * operand.item;
          continue;
        }
        at_[i] = origins_[slot.index] + row_in(operand, row) * slot.row_bytes +
                 column * slot.column_bytes;
      } else if (slot.kind == Slot::Kind::row) {
        at_[i] = scratch_ + slot.index + column * slot.column_bytes;
      }
    }
  }

  void block(const Phase& phase, int64_t row, int64_t rows, int64_t column, int64_t width) {
    set_slots(row, column);
    for (const LoopStep& step : phase.steps) {
      switch (step.kind) {
        case LoopStep::Kind::elementwise:
        case LoopStep::Kind::narrow:
          elementwise(step, rows, width);
          break;
        case LoopStep::Kind::gather:
        case LoopStep::Kind::scatter:
          move(step, {row, rows, column, width});
          break;
        case LoopStep::Kind::take:
          take(step, {row, rows, column, width});
          break;
        case LoopStep::Kind::compiled:
          compiled(*step.compiled, rows, width);
          break;
        case LoopStep::Kind::scan:
          scan_block(loop_, step, at_, partials_, rows, column, width);
          break;
        default:
          reduce_block(loop_, step, at_, partials_, rows, column, width);
      }
    }
  }

  void elementwise(const LoopStep& step, int64_t rows, int64_t width) {
    const std::byte* const a = at_[step.inputs[0]];
    const std::byte* const b = at_[step.inputs[1]];
    const std::byte* const c = at_[step.inputs[2]];
    std::byte* const out = at_[step.output];
    if (rows == 1 || step.is_flat) return step.run(a, b, c, out, static_cast<size_t>(rows * width));
    const auto row_bytes = [&](uint32_t slot) { return loop_.slots[slot].row_bytes; };
    const int64_t a_row = row_bytes(step.inputs[0]);
    const int64_t b_row = row_bytes(step.inputs[1]);
    const int64_t c_row = row_bytes(step.inputs[2]);
    const int64_t out_row = row_bytes(step.output);
    for (int64_t r = 0; r < rows; ++r) {
      step.run(a + r * a_row, b + r * b_row, c + r * c_row, out + r * out_row,
               static_cast<size_t>(width));
    }
  }

  void compiled(const CompiledSteps& steps, int64_t rows, int64_t width) {
    void* arrays[CompiledSteps::kMostSlots];
    size_t count = 0;
    for (const uint32_t slot : steps.slots()) arrays[count++] = at_[slot];
    if (steps.is_flat()) return steps.run(arrays, 1, rows * width);
    steps.run(arrays, rows, width);
  }

  void on_columns(const LoopStep& step, int64_t row, int64_t rows) {
    if (step.kind == LoopStep::Kind::by_columns) {
      const Operand& operand = loop_.operands[loop_.slots[step.inputs[0]].index];
      const auto columns = static_cast<size_t>(loop_.columns);
      const void* const from = at_[step.inputs[0]];
      void* const to = at_[step.output];
      if (step.reduce_typed != nullptr) {
        step.reduce_typed(from, operand.columns[0], columns, static_cast<size_t>(rows), to);
      } else {
        step.reduce(static_cast<const float*>(from), operand.columns[0], columns,
                    static_cast<size_t>(rows), static_cast<float*>(to));
      }
    } else if (step.kind == LoopStep::Kind::elementwise) {
      step.run(at_[step.inputs[0]], at_[step.inputs[1]], at_[step.inputs[2]], at_[step.output],
               static_cast<size_t>(rows));
    } else if (step.kind == LoopStep::Kind::take) {
      take(step, {row, rows, 0, 1});
    } else {
      move(step, {row, rows, 0, 1});
    }
  }

  void take(const LoopStep& step, BlockRange range) {
    const Slot& index = loop_.slots[step.inputs[0]];
    const size_t table = loop_.slots[step.inputs[1]].index;
    const Slot& result = loop_.slots[step.output];
    range.row = row_in(loop_.operands[table], range.row);
    take_block(loop_, step, loop_.operands[table], origins_[table], range,
               {reinterpret_cast<const int64_t*>(at_[step.inputs[0]]), index.row, index.column,
                at_[step.output], result.row},
               *fault_);
  }

  void move(const LoopStep& step, BlockRange range) {
    const bool gathers = step.kind == LoopStep::Kind::gather;
    const Slot& outside = loop_.slots[gathers ? step.inputs[0] : step.output];
    const uint32_t inside = gathers ? step.output : step.inputs[0];
    const Operand& operand = loop_.operands[outside.index];
    range.row = row_in(operand, range.row);
    std::byte* const registers = at_[inside];
    const int64_t register_row = loop_.slots[inside].row;
    if (gathers) {
      gather_block(loop_, operand, origins_[outside.index], range, registers, register_row);
    } else {
      scatter_block(loop_, operand, origins_[outside.index], range, registers, register_row);
    }
  }

  void finish_sums(const Phase& phase, int64_t row) {
    set_slots(row, 0);
    for (const LoopStep& step : phase.steps) {
      if (!is_partial(step)) continue;
      const bool multiplies = step.kind == LoopStep::Kind::product;
      partials_[step.partial].store(step.lanes, multiplies, at_[step.output]);
    }
  }

  const Loop& loop_;
  Fault* fault_;
  std::byte* scratch_;
  std::byte** at_;       // of each slot, for a block
  std::byte** bases_;    // of each operand
  std::byte** origins_;  // of each operand, for a place of the outer axes
  Partial* partials_;
  int64_t first_ = 0;  // row of the product
  const void* packed_ = nullptr;
};

}  // namespace

size_t scratch_bytes(const Loop& loop) {
  const size_t bytes = loop.scratch +
                       (loop.slots.size() + 2 * loop.operands.size()) * sizeof(std::byte*) +
                       most_reductions(loop) * sizeof(Partial);
  return (bytes + 63) / 64 * 64;
}

int64_t units(const Loop& loop) {
  const int64_t outer = element_count(loop.outer);
  if (outer == 0 || loop.rows == 0 || loop.columns == 0) return 0;
  if (is_cut_by_columns(loop)) return (loop.columns + loop.chunk - 1) / loop.chunk;
  return outer * groups_of_rows(loop);
}

void run_loop(const Loop& loop, const Memory& memory, std::byte* scratch, int64_t begin,
              int64_t end) {
  if (begin < end) Run(loop, memory, scratch).units(begin, end);
}

}  // namespace hoist::graph::program
