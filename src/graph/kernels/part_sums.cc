#include "graph/kernels/part_sums.h"

#include <algorithm>

#include "graph/kernels/emit.h"
#include "graph/kernels/operations.h"

namespace hoist::graph::kernels {

PartSums with_part_sums(GroupPlan plan) {
  PartSums made;
  std::vector<Member>& members = plan.members;
  const size_t count = members.size();
  const auto place = [&](Member& member) {
    member.phase = 0;
    for (const Input& input : member.inputs) {
      if (!input.operand) member.phase = std::max(member.phase, members[input.member].ready);
    }
    member.ready = member.phase + (member.accumulation ? 1 : 0);
    plan.last_phase = std::max(plan.last_phase, member.phase);
  };
  for (size_t i = 0; i < count; ++i) {
    place(members[i]);
    if (!members[i].is_scan) continue;
    Member sum;
    sum.id = members[i].id;
    sum.op = program::Op::sum;
    sum.type = members[i].type;
    sum.is_full = false;
    sum.accumulation = Accumulation::of(program::Op::cumulative_sum, ir::dtype_of(sum.type));
    sum.inputs = members[i].inputs;
    place(sum);
    members[i].phase = members[i].ready = sum.ready;
    plan.last_phase = std::max(plan.last_phase, sum.ready);
    made.sum_of[i] = members.size();
    members.push_back(std::move(sum));
  }
  made.plan = std::move(plan);
  return made;
}

namespace {

// What a block's threads before this one have together.
Value sum_of_threads_before(KernelWriter& writer, Value local, Value sum) {
  const ir::Scalar type = sum->type.scalar;
  const Value lane = writer.let(writer.rest(local, ir::kWarp));
  const Value warp = writer.let(writer.over(local, ir::kWarp));
  const auto add = [&](Value a, Value b) { return writer.binary(ir::BinaryOperator::add, a, b); };
  const Value so_far = writer.sum_of_lanes(lane, sum);
  const ir::Array* const warps =
      writer.builder.shared_array("warps", type, static_cast<uint64_t>(kThreads / ir::kWarp));
  writer.begin_if(writer.is_from(lane, ir::kWarp - 1));
  writer.store(warps, warp, so_far);
  writer.end();
  const Value others = writer.shuffled(ir::ShuffleKind::up, so_far, 1);
  writer.builder.barrier();
  const Value before = writer.variable(sum_start(writer, type));
  const Value other = writer.begin_for(writer.index(0), warp, writer.index(1));
  writer.set(before, add(before, writer.load(warps, other)));
  writer.end();
  return writer.let(writer.select(writer.is_from(lane, 1), add(before, others), before));
}

}  // namespace

void sum_before_parts(KernelWriter& writer, const ir::Array* parts, Value row, int64_t rows,
                      int64_t count, bool is_block) {
  const auto walk = [&](Value begin, Value end, const auto& visit) {
    const Value part = writer.begin_for(begin, end, writer.index(1));
    visit(writer.let(writer.plus(writer.times(part, rows), row)));
    writer.end();
  };
  const auto add_to = [&](Value sum, Value value) {
    writer.set(sum, writer.binary(ir::BinaryOperator::add, sum, value));
  };
  Value begin = writer.index(0);
  Value end = writer.index(count);
  Value before = sum_start(writer, parts->element);
  if (is_block) {  // some parts each
    const int64_t share = (count + kThreads - 1) / kThreads;
    const Value local = writer.let(writer.id(ir::Id::local));
    begin = writer.let(writer.times(local, share));
    end = writer.let(writer.smaller(writer.plus(begin, share), writer.index(count)));
    const Value sum = writer.variable(before);
    walk(begin, end, [&](Value index) { add_to(sum, writer.load(parts, index)); });
    before = sum_of_threads_before(writer, local, sum);
  }
  const Value sum = writer.variable(before);
  walk(begin, end, [&](Value index) {
    const Value own = writer.let(writer.load(parts, index));
    writer.store(parts, index, sum);
    add_to(sum, own);
  });
}

}  // namespace hoist::graph::kernels
