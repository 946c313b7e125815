#include "graph/kernels/emit.h"

#include <algorithm>
#include <list>
#include <set>

#include "graph/kernels/passes.h"
#include "graph/kernels/row_code.h"
#include "graph/kernels/split_product.h"

namespace hoist::graph::kernels {

namespace {

// More blocks than run at the same time take turns.
constexpr int64_t kBlocksOfProcessor = 64;
// Rows of at most so many columns are one thread's.
constexpr int64_t kShortRow = 16;
constexpr int64_t kRowOfWarp = 1024;
// A row of more columns is worth several blocks, where there are few rows.
constexpr int64_t kLongRow = 16384;
constexpr int64_t kColumnsOfPart = 8192;
// The same of rows of running sums.
constexpr int64_t kLongSum = 4096;
constexpr int64_t kColumnsOfSummedPart = 512;
constexpr int64_t kManyElements = int64_t{1} << 19;
// Elements, terms of a product included, that one block does as soon as several.
constexpr int64_t kTinyElements = 2048;
constexpr int64_t kTinyDepth = 512;

int64_t parts_of(int64_t wanted, int64_t most) {
  return std::max<int64_t>(1, std::min(wanted, most));
}

ir::Scalar index_type(const std::vector<GroupPlan>& plans) {
  const bool is_wide =
      std::any_of(plans.begin(), plans.end(), [](const GroupPlan& plan) { return plan.is_wide; });
  return is_wide ? ir::Scalar::i64 : ir::Scalar::i32;
}

ir::Grid grid_of(int64_t blocks) {
  return {{static_cast<uint32_t>(blocks), 1, 1}, {static_cast<uint32_t>(kThreads), 1, 1}};
}

// Whether threads beside each other read neighbouring elements where they have a row each, and
// would not where they shared one.
bool lies_by_columns(const GroupPlan& plan, const Memories& memories) {
  int64_t by_columns = 0;
  int64_t by_rows = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.constant || operand.is_of_row() || operand.rows.empty()) continue;
    const int bytes = ir::bytes(memories[operand.storage].element);
    if (operand.columns.back() == 1) {
      by_rows += bytes;
    } else if (operand.rows.back() == 1) {
      by_columns += bytes;
    }
  }
  return by_columns > by_rows;
}

// Arrays that any of the groups writes may not be read as if nobody did.
void declare_arrays(KernelWriter& writer, const std::vector<GroupPlan>& plans,
                    const Memories& memories) {
  std::map<Storage, bool> all;
  for (const GroupPlan& plan : plans) {
    for (const Operand& operand : plan.operands) {
      if (!operand.constant) all.try_emplace(operand.storage, false);
    }
    for (const Member& member : plan.members) {
      if (member.output) all[plan.operands[*member.output].storage] = true;
    }
  }
  for (const auto& [storage, is_written] : all) {
    writer.array(storage, memories[storage], is_written ? ir::Direction::inout : ir::Direction::in);
  }
}

}  // namespace

bool has_scan(const GroupPlan& plan) {
  return std::any_of(plan.members.begin(), plan.members.end(),
                     [](const Member& member) { return member.is_scan; });
}

bool has_rows(const GroupPlan& plan) {
  return std::any_of(plan.members.begin(), plan.members.end(), [](const Member& member) {
    return member.accumulation.has_value() || member.is_scan;
  });
}

namespace {

// A walk through the columns in their order, which a block has not. Parts of a row cost another
// pass over memory, so that as few rows are several warps' or threads' as leave most of them idle.
RowShape scan_shape(const GroupPlan& plan, const Memories& memories, int64_t processors) {
  if (plan.columns <= kShortRow) return {RowTeam::thread, 1};
  const bool is_large = plan.columns >= kLongSum || plan.rows * plan.columns >= kManyElements;
  if (lies_by_columns(plan, memories) && plan.rows >= ir::kWarp) {
    const int64_t parts = parts_of(processors * 2048 / plan.rows, plan.columns / 32);
    if (is_large && parts >= 4) return {RowTeam::thread, parts};
    return {plan.rows >= processors * ir::kWarp ? RowTeam::thread : RowTeam::warp, 1};
  }
  if (plan.columns < kLongSum || plan.rows >= processors * 6) return {RowTeam::warp, 1};
  return {RowTeam::warp,
          parts_of(processors * 64 / plan.rows, plan.columns / kColumnsOfSummedPart)};
}

}  // namespace

RowShape row_shape(const GroupPlan& plan, const Memories& memories, const LowerOptions& options) {
  const int64_t processors = options.multiprocessors;
  if (has_scan(plan)) return scan_shape(plan, memories, processors);
  // Products are a thread's or a warp's: a block cannot reduce them.
  const bool has_product =
      std::any_of(plan.members.begin(), plan.members.end(), [](const Member& member) {
        return member.accumulation && member.accumulation->is_product();
      });
  if (lies_by_columns(plan, memories) && plan.rows >= ir::kWarp && !has_product) {
    const int64_t wanted = processors * 2048 / plan.rows;
    return {RowTeam::thread, parts_of(wanted, plan.columns / 32)};
  }
  if (plan.columns <= kShortRow) return {RowTeam::thread, 1};
  if (has_product) return {RowTeam::warp, 1};
  if (plan.columns <= kRowOfWarp && (plan.rows >= processors * 4 || plan.columns <= 128)) {
    return {RowTeam::warp, 1};
  }
  if (plan.rows >= processors / 2 || plan.columns <= kLongRow) return {RowTeam::block, 1};
  return {RowTeam::block, parts_of(processors * 8 / plan.rows, plan.columns / kColumnsOfPart)};
}

Status finish_kernel(const EmitContext& context, KernelWriter& writer, int64_t blocks,
                     std::vector<std::pair<Storage, Storage>> in_place) {
  KernelStep step = writer.finish();
  if (!writer.status()) return writer.status();
  step.grid = grid_of(blocks);
  step.in_place = std::move(in_place);
  context.lowered.steps.emplace_back(std::move(step));
  return {};
}

std::vector<std::pair<Storage, Storage>> pairs_in_place(const GroupPlan& plan) {
  std::vector<std::pair<Storage, Storage>> pairs;
  for (const Member& member : plan.members) {
    if (!member.output || !member.is_full || member.phase != plan.last_phase) continue;
    const Operand& to = plan.operands[*member.output];
    for (const Operand& from : plan.operands) {
      const auto readers = std::count_if(
          plan.operands.begin(), plan.operands.end(),
          [&](const Operand& other) { return !other.constant && other.storage == from.storage; });
      if (!from.constant && !from.is_table && from.storage != to.storage && readers == 1 &&
          from.offset == 0 && from.rows == to.rows && from.columns == to.columns && !plan.product) {
        pairs.emplace_back(from.storage, to.storage);
      }
    }
  }
  return pairs;
}

Status emit_side_by_side(const EmitContext& context, const std::vector<GroupPlan>& plans) {
  KernelWriter writer(context.lowered.module, context.next_name(), index_type(plans));
  declare_arrays(writer, plans, context.memories);
  int64_t first_block = 0;
  for (const GroupPlan& plan : plans) {
    const bool vectors = context.options.uses_vectors;
    const int64_t groups = element_groups(plan, context.memories, vectors);
    const int64_t most = context.options.multiprocessors * kBlocksOfProcessor;
    const int64_t blocks = std::min((groups + kThreads - 1) / kThreads, most);
    Evaluation evaluation(writer, context.graph, plan, context.memories);
    if (plans.size() == 1) {
      emit_elements(writer, evaluation, plan, context.memories,
                    writer.let(writer.id(ir::Id::thread)), blocks * kThreads, vectors);
    } else {
      const Value block = writer.let(writer.plus(writer.id(ir::Id::block), -first_block));
      writer.begin_if(writer.binary(
          ir::BinaryOperator::bit_and,
          writer.make.compare(ir::Comparison::greater_equal, block, writer.index(0)).value(),
          writer.is_below(block, writer.index(blocks))));
      const Value thread =
          writer.let(writer.plus(writer.times(block, kThreads), writer.id(ir::Id::local)));
      emit_elements(writer, evaluation, plan, context.memories, thread, blocks * kThreads, vectors);
      writer.end();
    }
    first_block += blocks;
  }
  return finish_kernel(
      context, writer, first_block,
      plans.size() == 1 ? pairs_in_place(plans[0]) : std::vector<std::pair<Storage, Storage>>());
}

Status emit_group(const EmitContext& context, const GroupPlan& plan) {
  if (!has_rows(plan)) return emit_side_by_side(context, {plan});
  const RowShape shape = row_shape(plan, context.memories, context.options);
  if (shape.parts > 1) return emit_passes(context, plan, shape);
  KernelWriter writer(context.lowered.module, context.next_name(), index_type({plan}));
  declare_arrays(writer, {plan}, context.memories);
  Evaluation evaluation(writer, context.graph, plan, context.memories);
  const int64_t rows = rows_of_block(shape.team);
  const int64_t most = int64_t{context.options.multiprocessors} * 4096;
  const int64_t blocks = std::min((plan.rows + rows - 1) / rows, most);
  emit_rows(writer, evaluation, plan, context.memories, shape.team,
            writer.let(writer.id(ir::Id::block)), blocks, context.options.uses_vectors);
  return finish_kernel(context, writer, blocks, pairs_in_place(plan));
}

bool is_tiny(const GroupPlan& plan) {
  return plan.rows * plan.columns <= kTinyElements && !plan.is_wide &&
         (!plan.product || plan.product->depth <= kTinyDepth);
}

Status emit_in_one_block(const EmitContext& context, const std::vector<GroupPlan>& plans) {
  KernelWriter writer(context.lowered.module, context.next_name(), index_type(plans));
  declare_arrays(writer, plans, context.memories);
  std::set<Storage> written;
  for (const GroupPlan& plan : plans) {
    for (const Member& member : plan.members) {
      if (member.output) written.insert(plan.operands[*member.output].storage);
    }
  }
  // Weights are loaded before the first barrier.
  std::list<Evaluation> evaluations;
  std::list<SplitProduct> products;
  for (const GroupPlan& plan : plans) {
    evaluations.emplace_back(writer, context.graph, plan, context.memories);
    if (!plan.product) continue;
    products.emplace_back(writer, evaluations.back(), plan);
    if (!written.contains(plan.operands[plan.product->b].storage)) products.back().prefetch();
  }
  auto evaluation = evaluations.begin();
  for (const GroupPlan& plan : plans) {
    if (&plan != &plans.front()) writer.builder.barrier();
    if (has_rows(plan)) {
      const bool is_short = plan.columns <= kShortRow;
      emit_rows(writer, *evaluation, plan, context.memories,
                is_short ? RowTeam::thread : RowTeam::warp, writer.index(0), 1,
                context.options.uses_vectors);
    } else if (plan.product) {
      products.front().emit();
      products.pop_front();
    } else {
      emit_elements(writer, *evaluation, plan, context.memories,
                    writer.let(writer.id(ir::Id::local)), kThreads, context.options.uses_vectors);
    }
    ++evaluation;
  }
  return finish_kernel(context, writer, 1, {});
}

}  // namespace hoist::graph::kernels
