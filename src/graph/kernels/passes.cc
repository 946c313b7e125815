#include "graph/kernels/passes.h"

#include <algorithm>

#include "graph/kernels/part_sums.h"
#include "graph/kernels/row_code.h"

namespace hoist::graph::kernels {

namespace {

using ir::Direction;

// Where a thread scans them by itself.
constexpr int64_t kFewParts = 32;

// A warp's begins where others' lines of memory end.
int64_t chunk_of(int64_t groups, RowShape shape) {
  const int64_t unit = shape.team == RowTeam::warp ? ir::kWarp : 1;
  const int64_t each = (groups + shape.parts - 1) / shape.parts;
  return (each + unit - 1) / unit * unit;
}

class Passes {
 public:
  Passes(const EmitContext& context, PartSums plan, RowShape shape)
      : context_(context),
        plan_(std::move(plan.plan)),
        sum_of_(std::move(plan.sum_of)),
        shape_(shape),
        lanes_(context.options.uses_vectors && !plan_.column_axes.empty()
                   ? Evaluation::lanes_of(plan_, context.memories, plan_.column_axes.back())
                   : 1),
        groups_(plan_.columns / lanes_),
        chunk_(chunk_of(groups_, shape)) {
    for (const Member& member : plan_.members) {
      if (member.accumulation) last_reduction_ = std::max(last_reduction_, member.phase);
      if (member.accumulation || (member.is_full && member.output)) {
        last_store_ = std::max(last_store_, member.phase);
      }
    }
  }

  Status emit() {
    for (size_t phase = 0; phase <= plan_.last_phase; ++phase) {
      const std::vector<size_t> reductions = reductions_of(plan_, phase);
      const std::vector<size_t> stores = stores_of(plan_, phase);
      if (reductions.empty() && stores.empty()) continue;
      if (Status made = emit_parts(phase, reductions, stores); !made) return made;
      if (reductions.empty()) continue;
      if (Status made = emit_totals(phase, reductions); !made) return made;
    }
    return {};
  }

 private:
  struct Kept {
    Storage parts = 0;
    Storage total = 0;
  };

  std::unique_ptr<KernelWriter> new_writer() const {
    const ir::Scalar index = plan_.is_wide ? ir::Scalar::i64 : ir::Scalar::i32;
    return std::make_unique<KernelWriter>(context_.lowered.module, context_.next_name(), index);
  }

  const ir::Array* array(KernelWriter& writer, Storage storage, Direction direction) const {
    return writer.array(storage, context_.memories[storage], direction);
  }

  bool is_part_sum(size_t member) const { return plan_.members[member].accumulation->is_running(); }

  // What earlier phases have found.
  void load_totals(KernelWriter& writer, Evaluation& evaluation, Value row) const {
    for (const auto& [member, kept] : kept_) {
      if (is_part_sum(member)) continue;
      know(writer, evaluation, member,
           writer.let(writer.load(array(writer, kept.total, Direction::in), row)));
    }
  }

  // What running sums go on from, as far as it is known.
  std::map<size_t, Value> sums_before(KernelWriter& writer, Value number) const {
    std::map<size_t, Value> before;
    for (const auto& [running, sum] : sum_of_) {
      const auto found = kept_.find(sum);
      if (found == kept_.end()) continue;
      before[running] =
          writer.let(writer.load(array(writer, found->second.parts, Direction::in), number));
    }
    return before;
  }

  // A part of a row, a thread's, a warp's or a block's.
  struct Part {
    Value number = nullptr;
    Value lane = nullptr;    // of the team's threads
    Value is_any = nullptr;  // else it is another team's; null: sure
    Value begin = nullptr;   // columns, in units of lanes_
    Value end = nullptr;
  };

  // Opens a condition where a thread may have no part.
  Part begin_part(KernelWriter& writer) const {
    Part part;
    const int64_t count = plan_.rows * shape_.parts;
    if (shape_.team == RowTeam::block) {
      part.number = writer.let(writer.id(ir::Id::block));
      part.lane = writer.let(writer.id(ir::Id::local));
    } else if (shape_.team == RowTeam::thread) {
      part.number = writer.let(writer.id(ir::Id::thread));
      part.lane = writer.index(0);
      writer.begin_if(writer.is_below(part.number, writer.index(count)));
    } else {
      const Value thread = writer.let(writer.id(ir::Id::thread));
      part.lane = writer.let(writer.rest(thread, ir::kWarp));
      part.number = writer.let(writer.over(thread, ir::kWarp));
      if (count % rows_of_block(shape_.team) != 0) {
        part.is_any = writer.let(writer.is_below(part.number, writer.index(count)));
        part.number = writer.let(writer.smaller(part.number, writer.index(count - 1)));
      }
    }
    const Value row_part = writer.over(part.number, plan_.rows);
    part.begin = writer.let(writer.times(writer.let(row_part), chunk_));
    part.end = writer.let(writer.smaller(writer.plus(part.begin, chunk_), writer.index(groups_)));
    return part;
  }

  // The part's columns in their order. Lanes of a warp come to neighbouring ones together.
  void walk(KernelWriter& writer, Evaluation& evaluation, const Part& part, Sums& sums,
            const std::vector<size_t>& stores) const {
    const bool is_warp = shape_.team == RowTeam::warp;
    std::optional<Place> place;
    Value is_stored = nullptr;
    if (is_warp) {
      const Value turn =
          writer.begin_for(writer.index(0), writer.index(chunk_), writer.index(ir::kWarp));
      const Value at = writer.let(writer.plus(writer.plus(part.begin, turn), part.lane));
      const Value is_valid = writer.let(writer.is_below(at, part.end));
      place.emplace(writer.let(writer.smaller(at, writer.plus(part.end, -1))), lanes_);
      place->is_valid = is_valid;
      is_stored = part.is_any ? writer.binary(ir::BinaryOperator::bit_and, is_valid, part.is_any)
                              : is_valid;
    } else {
      place.emplace(writer.begin_for(writer.plus(part.begin, part.lane), part.end,
                                     writer.index(kThreads / rows_of_block(shape_.team))),
                    lanes_);
    }
    sums.add(evaluation, *place, place->is_valid);
    for (const size_t member : stores) evaluation.at(*place, member);
    if (is_stored && !stores.empty()) writer.begin_if(is_stored);
    for (const size_t member : stores) evaluation.store_at(*place, member);
    if (is_stored && !stores.empty()) writer.end();
    writer.end();
  }

  Status emit_parts(size_t phase, const std::vector<size_t>& reductions,
                    const std::vector<size_t>& stores) {
    const auto made = new_writer();
    KernelWriter& writer = *made;
    Evaluation evaluation(writer, context_.graph, plan_, context_.memories);
    evaluation.declare_arrays();
    const Part part = begin_part(writer);
    const Value row = writer.let(writer.rest(part.number, plan_.rows));
    evaluation.begin_row(row);
    load_totals(writer, evaluation, row);
    for (const size_t member : reductions) evaluation.prepare(member);
    for (const size_t member : stores) evaluation.prepare(member);
    Sums sums(writer, plan_, reductions, lanes_);
    const bool is_thread = shape_.team == RowTeam::thread;
    evaluation.begin_scans(is_thread ? nullptr : part.lane, sums_before(writer, part.number));
    walk(writer, evaluation, part, sums, stores);
    std::vector<std::pair<size_t, Value>> totals;
    for (size_t i = 0; i < reductions.size(); ++i) {
      totals.emplace_back(reductions[i], writer.let(sums.total(i, shape_.team)));
    }
    const int64_t count = plan_.rows * shape_.parts;
    if (!is_thread) begin_first(writer, part.lane, part.is_any);
    for (const auto& [member, total] : totals) {
      const ir::Scalar type = plan_.members[member].accumulation->type();
      Kept& kept = new_[member];
      kept.parts = context_.memories.scratch(type, static_cast<uint64_t>(count));
      if (!is_part_sum(member)) {
        kept.total = context_.memories.scratch(type, static_cast<uint64_t>(plan_.rows));
      }
      writer.store(array(writer, kept.parts, Direction::out), part.number, total);
    }
    writer.end();
    const int64_t in_block = rows_of_block(shape_.team);
    const int64_t blocks = (count + in_block - 1) / in_block;
    const bool is_last = phase == plan_.last_phase;
    return finish_kernel(
        context_, writer, blocks,
        is_last ? pairs_in_place(plan_) : std::vector<std::pair<Storage, Storage>>());
  }

  // Row by row: by a thread each where there are many, else by a block. The last phase writes what
  // has a value for each row, too.
  Status emit_totals(size_t phase, const std::vector<size_t>& reductions) {
    const auto made = new_writer();
    KernelWriter& writer = *made;
    Evaluation evaluation(writer, context_.graph, plan_, context_.memories);
    const bool is_last = phase == last_reduction_;
    const std::vector<size_t> stores = is_last ? row_stores(plan_) : std::vector<size_t>();
    if (!stores.empty()) evaluation.declare_arrays();
    const bool is_block = plan_.rows < kThreads || (!sum_of_.empty() && shape_.parts > kFewParts);
    const Value row = writer.let(writer.id(is_block ? ir::Id::block : ir::Id::thread));
    if (!is_block) writer.begin_if(writer.is_below(row, writer.index(plan_.rows)));
    std::map<size_t, Value> totals;
    for (const size_t member : reductions) {
      if (is_part_sum(member)) {
        sum_before_parts(writer, array(writer, new_[member].parts, Direction::inout), row,
                         plan_.rows, shape_.parts, is_block);
      } else {
        totals[member] = total_of(writer, member, row, is_block);
      }
    }
    if (is_block) begin_first(writer, writer.id(ir::Id::local), nullptr);
    for (const auto& [member, total] : totals) {
      if (is_last && last_store_ <= phase) break;  // nobody reads them
      writer.store(array(writer, new_[member].total, Direction::out), row, total);
    }
    if (!stores.empty()) {
      evaluation.begin_row(row);
      load_totals(writer, evaluation, row);
      for (const auto& [member, total] : totals) know(writer, evaluation, member, total);
      for (const size_t member : stores) (void)evaluation.of_row(member);
      for (const size_t member : stores) evaluation.store_row(member);
    }
    writer.end();
    kept_.merge(new_);
    new_.clear();
    return finish_kernel(context_, writer,
                         is_block ? plan_.rows : (plan_.rows + kThreads - 1) / kThreads, {});
  }

  // The partial results of a row, in their order.
  Value total_of(KernelWriter& writer, size_t member, Value row, bool is_block) {
    const Accumulation& accumulation = *plan_.members[member].accumulation;
    const ir::Array* parts = array(writer, new_[member].parts, Direction::in);
    const Value sum = writer.variable(accumulation.start(writer));
    const Value from = is_block ? writer.id(ir::Id::local) : writer.index(0);
    const Value part =
        writer.begin_for(from, writer.index(shape_.parts), writer.index(is_block ? kThreads : 1));
    const Value index = writer.plus(writer.times(part, plan_.rows), row);
    writer.set(sum, accumulation.combined(writer, sum, writer.load(parts, index)));
    writer.end();
    return writer.let(
        Sums::reduced(writer, accumulation, sum, is_block ? RowTeam::block : RowTeam::thread));
  }

  void know(KernelWriter& writer, Evaluation& evaluation, size_t member, Value total) const {
    const Accumulation& accumulation = *plan_.members[member].accumulation;
    evaluation.know(member,
                    writer.let(accumulation.decoded(writer, total, plan_.members[member].type)));
  }

  static void begin_first(KernelWriter& writer, Value lane, Value is_any) {
    const Value is_first =
        writer.make.compare(ir::Comparison::equal, lane, writer.index(0)).value();
    writer.begin_if(is_any ? writer.binary(ir::BinaryOperator::bit_and, is_first, is_any)
                           : is_first);
  }

  const EmitContext& context_;
  const GroupPlan plan_;
  const std::map<size_t, size_t> sum_of_;  // PartSums
  const RowShape shape_;
  const int lanes_;
  const int64_t groups_;
  const int64_t chunk_;          // groups of a part
  size_t last_reduction_ = 0;    // phases
  size_t last_store_ = 0;        // or reduction
  std::map<size_t, Kept> new_;   // by member: of the phase under way
  std::map<size_t, Kept> kept_;  // of those before
};

}  // namespace

Status emit_passes(const EmitContext& context, const GroupPlan& plan, RowShape shape) {
  return Passes(context, with_part_sums(plan), shape).emit();
}

}  // namespace hoist::graph::kernels
