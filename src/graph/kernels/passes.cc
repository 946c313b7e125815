#include "graph/kernels/passes.h"

#include <algorithm>

#include "graph/kernels/row_code.h"

namespace hoist::graph::kernels {

namespace {

using ir::Direction;

class Passes {
 public:
  Passes(const EmitContext& context, const GroupPlan& plan, RowShape shape)
      : context_(context),
        plan_(plan),
        shape_(shape),
        lanes_(context.options.uses_vectors && !plan.column_axes.empty()
                   ? Evaluation::lanes_of(plan, context.memories, plan.column_axes.back())
                   : 1),
        groups_(plan.columns / lanes_) {
    for (const Member& member : plan.members) {
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

  // What earlier phases have found.
  void load_totals(KernelWriter& writer, Evaluation& evaluation, Value row) const {
    for (const auto& [member, kept] : kept_) {
      know(writer, evaluation, member,
           writer.let(writer.load(array(writer, kept.total, Direction::in), row)));
    }
  }

  Status emit_parts(size_t phase, const std::vector<size_t>& reductions,
                    const std::vector<size_t>& stores) {
    const auto made = new_writer();
    KernelWriter& writer = *made;
    Evaluation evaluation(writer, context_.graph, plan_, context_.memories);
    evaluation.declare_arrays();
    const int64_t chunk = (groups_ + shape_.parts - 1) / shape_.parts;
    // A thread or a block for each row and part.
    const bool is_block = shape_.team == RowTeam::block;
    const Value number = writer.let(writer.id(is_block ? ir::Id::block : ir::Id::thread));
    const int64_t count = plan_.rows * shape_.parts;
    if (!is_block) writer.begin_if(writer.is_below(number, writer.index(count)));
    const Value row = writer.let(writer.rest(number, plan_.rows));
    const Value part = writer.let(writer.over(number, plan_.rows));
    evaluation.begin_row(row);
    load_totals(writer, evaluation, row);
    for (const size_t member : reductions) evaluation.prepare(member);
    for (const size_t member : stores) evaluation.prepare(member);
    Sums sums(writer, plan_, reductions, lanes_);
    const Value begin = writer.let(writer.times(part, chunk));
    const Value end = writer.let(writer.smaller(writer.plus(begin, chunk), writer.index(groups_)));
    const Value from = is_block ? writer.plus(begin, writer.id(ir::Id::local)) : begin;
    const Value at = writer.begin_for(from, end, writer.index(is_block ? kThreads : 1));
    Place place(at, lanes_);
    sums.add(evaluation, place);
    for (const size_t member : stores) evaluation.at(place, member);
    for (const size_t member : stores) evaluation.store_at(place, member);
    writer.end();
    std::vector<std::pair<size_t, Value>> totals;
    for (size_t i = 0; i < reductions.size(); ++i) {
      totals.emplace_back(reductions[i], writer.let(sums.total(i, shape_.team)));
    }
    if (is_block) begin_first(writer);
    for (const auto& [member, total] : totals) {
      const ir::Scalar type = plan_.members[member].accumulation->type();
      Kept& kept = new_[member];
      kept.parts = context_.memories.scratch(type, static_cast<uint64_t>(count));
      kept.total = context_.memories.scratch(type, static_cast<uint64_t>(plan_.rows));
      writer.store(array(writer, kept.parts, Direction::out), number, total);
    }
    writer.end();
    const int64_t blocks = is_block ? count : (count + kThreads - 1) / kThreads;
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
    const bool is_block = plan_.rows < kThreads;
    const Value row = writer.let(writer.id(is_block ? ir::Id::block : ir::Id::thread));
    if (!is_block) writer.begin_if(writer.is_below(row, writer.index(plan_.rows)));
    std::map<size_t, Value> totals;
    for (const size_t member : reductions) totals[member] = total_of(writer, member, row, is_block);
    if (is_block) begin_first(writer);
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

  static void begin_first(KernelWriter& writer) {
    writer.begin_if(
        writer.make.compare(ir::Comparison::equal, writer.id(ir::Id::local), writer.index(0))
            .value());
  }

  const EmitContext& context_;
  const GroupPlan& plan_;
  const RowShape shape_;
  const int lanes_;
  const int64_t groups_;
  size_t last_reduction_ = 0;    // phases
  size_t last_store_ = 0;        // or reduction
  std::map<size_t, Kept> new_;   // by member: of the phase under way
  std::map<size_t, Kept> kept_;  // of those before
};

}  // namespace

Status emit_passes(const EmitContext& context, const GroupPlan& plan, RowShape shape) {
  return Passes(context, plan, shape).emit();
}

}  // namespace hoist::graph::kernels
