// The first half of a loop's making: its members and operands, and the order of its steps.
#include "graph/program/loop_builder.h"

#include <algorithm>
#include <numeric>

namespace hoist::graph::program {
namespace {

constexpr int64_t kBlock = 1024;  // floats; of ops' sums, too
// Rows of an operand that lies by columns: a cache line of them at least, more where these fit.
constexpr int64_t kRowsOfLine = 16;
constexpr int64_t kTransposed = int64_t{1} << 16;      // floats
constexpr int64_t kMostTransposed = int64_t{1} << 15;  // columns
constexpr int64_t kRowsOfReductions = 256;             // a strip of column_reductions-inl.h
// So much of a product lies in a near cache until the steps after it have read it.
constexpr int64_t kProductFloats = int64_t{64} << 10;
constexpr int64_t kLeastProductRows = 48;
// What a thread is given at least: rows of a product, and multiplications.
constexpr int64_t kLeastUnitRows = 16;
constexpr int64_t kLeastMultiplications = 3'000'000;

}  // namespace

size_t LoopBuilder::operand(Operand operand, Extents strides) {
  for (const size_t i : operands_of_[operand.node]) {
    const Operand& known = raw_[i].operand;
    if (known.place == operand.place && known.offset == operand.offset &&
        raw_[i].strides == strides) {
      return i;
    }
  }
  return new_operand(std::move(operand), std::move(strides));
}

size_t LoopBuilder::new_operand(Operand operand, Extents strides) {
  operands_of_[operand.node].push_back(raw_.size());
  raw_.push_back({std::move(operand), std::move(strides)});
  return raw_.size() - 1;
}

// Programs take and give booleans as bytes; between kernels, and in constants, they are numbers. So
// are all elements of constants in lanes.
Operand LoopBuilder::memory_of(Id root, int64_t offset) const {
  const Node& node = graph_[root];
  Operand operand;
  operand.place = place_of(graph_, root);
  operand.node = root;
  operand.dtype = node.dtype;
  if (operand.place == Place::constant) operand.dtype = lane_type(node.dtype);
  if (operand.place == Place::arena && node.dtype == DType::boolean) operand.dtype = DType::f32;
  operand.is_converted = !is_lane_type(operand.dtype);
  operand.item = static_cast<uint8_t>(bytes_of(operand.dtype));
  operand.offset = offset;
  return operand;
}

LoopBuilder::Input LoopBuilder::input(Id id, Level level, const Extents& shape) {
  const Origin& origin = fused_.origins[id];
  if (const auto found = member_of_.find(origin.root); found != member_of_.end()) {
    return {false, found->second};
  }
  const Access access = broadcast_access(shape, graph_[id].shape, origin.access);
  return {true, operand(memory_of(origin.root, access.offset),
                        domain_strides(group_, level, shape, access))};
}

size_t LoopBuilder::output_operand(Id id, Level level) {
  const Extents& shape = graph_[id].shape;
  return operand(memory_of(id, 0), domain_strides(group_, level, shape, {0, dense_strides(shape)}));
}

void LoopBuilder::add(Id id, bool is_written) {
  const Node& node = graph_[id];
  if (node.op == Op::matmul) return add_product(id, is_written);
  Member member;
  member.op = node.op;
  member.dtype = node.dtype;
  member.computed = step_lanes(graph_, node);
  const bool reduces = is_reduction(node.op);
  member.level = reduces ? Level::column : *level_of(group_, node.shape);
  const Extents& shape = reduces ? graph_[node.inputs[0]].shape : node.shape;
  const size_t first = node.op == Op::take_along ? 1 : 0;
  if (first == 1) set_table(node, member);
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const Id from = node.inputs[i];
    const Input found = input(from, reduces ? Level::full : member.level, shape);
    if (!found.is_operand) member.phase = std::max(member.phase, members_[found.index].ready);
    member.inputs.push_back(found);
  }
  member.ready = member.phase + (reduces ? 1 : 0);
  if (is_written) member.output = output_operand(id, member.level);
  member_of_[id] = members_.size();
  members_.push_back(std::move(member));
}

// What is taken from is read at any place of the axis, which therefore counts as having no stride.
void LoopBuilder::set_table(const Node& node, Member& member) {
  const Id from = node.inputs[0];
  const auto axis = static_cast<size_t>(node.numbers[0]);
  Extents shape = node.shape;
  shape[axis] = graph_[from].shape[axis];
  const Origin& origin = fused_.origins[from];
  Access access = broadcast_access(shape, graph_[from].shape, origin.access);
  member.axis = node.numbers[0];
  member.extent = shape[axis];
  member.stride = access.strides[axis];
  access.strides[axis] = 0;
  // Not shared with other readers, which may read it where they write.
  member.table = new_operand(memory_of(origin.root, access.offset),
                             domain_strides(group_, member.level, node.shape, access));
}

void LoopBuilder::add_product(Id id, bool is_written) {
  const Node& node = graph_[id];
  const size_t rank = node.shape.size();
  LoopProduct product;
  product.depth = static_cast<size_t>(graph_[node.inputs[0]].shape.back());
  product.lanes = lanes_of(node.dtype);
  const auto matrix = [&](Id from, size_t depth_axis, int64_t& depth_stride) {
    Extents shape = node.shape;
    shape[depth_axis] = static_cast<int64_t>(product.depth);
    const Origin& origin = fused_.origins[from];
    Access access = broadcast_access(shape, graph_[from].shape, origin.access);
    depth_stride = access.strides[depth_axis];
    access.strides[depth_axis] = 0;
    if (depth_axis == rank - 2) {
      product.b_column = access.strides[rank - 1];
      access.strides[rank - 1] = 0;
    }
    // Not shared with other readers: its columns are not the domain's.
    return static_cast<uint32_t>(
        new_operand(memory_of(origin.root, access.offset),
                    domain_strides(group_, Level::full, node.shape, access)));
  };
  product.a = matrix(node.inputs[0], rank - 1, product.a_depth);
  product.b = matrix(node.inputs[1], rank - 2, product.b_depth);
  Extents strides = domain_strides(group_, Level::full, node.shape, {0, dense_strides(node.shape)});
  Operand result = memory_of(id, 0);
  if (!is_written) result.place = Place::product;
  // A single column, whose axis has no stride of its own.
  if (node.shape.back() == 1) strides.back() = 1;
  product.c = static_cast<uint32_t>(operand(std::move(result), std::move(strides)));
  loop_.product = product;
  Member member;
  member.op = Op::matmul;
  member.dtype = node.dtype;
  member.output = product.c;
  member_of_[id] = members_.size();
  members_.push_back(std::move(member));
}

void LoopBuilder::copy(Id from, Id to_node, const Extents& shape, const Access& to) {
  Member member;
  member.dtype = graph_[to_node].dtype;
  member.computed = lanes_of(member.dtype);
  member.inputs.push_back(input(from, Level::full, shape));
  member.output =
      operand(memory_of(to_node, to.offset), domain_strides(group_, Level::full, shape, to));
  members_.push_back(std::move(member));
}

void LoopBuilder::set_blocks() {
  const int64_t columns = std::max<int64_t>(loop_.columns, 1);
  loop_.chunk = std::min(columns, kBlock);
  loop_.block_rows = columns > kBlock ? 1 : std::max<int64_t>(1, kBlock / columns);
  const auto lies_by_columns = [&](const Operand& operand) {
    return operand.row == 1 && operand.columns.size() == 1 && operand.columns[0] > 1;
  };
  if (!loop_.product && columns <= kMostTransposed &&
      std::any_of(loop_.operands.begin(), loop_.operands.end(), lies_by_columns)) {
    loop_.chunk = columns;
    loop_.block_rows =
        std::max({loop_.block_rows, kRowsOfLine, std::min<int64_t>(256, kTransposed / columns)});
  }
  // Where nothing but numbers of rows is computed, whole stretches of rows are read from memory.
  const auto reads_no_rows = [&](const Member& one) {
    return one.level == Level::column && (!is_reduction(one.op) || is_by_columns(one));
  };
  if (!loop_.product && std::all_of(members_.begin(), members_.end(), reads_no_rows)) {
    loop_.block_rows = std::max(loop_.block_rows, kRowsOfReductions);
  }
  loop_.block_rows = std::min(loop_.block_rows, std::max<int64_t>(loop_.rows, 1));
  if (!loop_.product) return;
  LoopProduct& product = *loop_.product;
  Operand& c = loop_.operands[product.c];
  product.block_rows = static_cast<size_t>(loop_.rows);
  const int64_t of_row = columns * std::max<int64_t>(static_cast<int64_t>(product.depth), 1);
  const int64_t near = std::max(kLeastProductRows, kProductFloats / columns);
  const int64_t unit_rows = std::max(kLeastUnitRows, (kLeastMultiplications + of_row - 1) / of_row);
  product.unit_rows = static_cast<size_t>(std::min(unit_rows, near));
  if (c.place == Place::product) {
    const int64_t rows = std::min(near, std::max<int64_t>(loop_.rows, 1));
    product.block_rows = static_cast<size_t>(rows);
    product.c_scratch = scratch(rows * columns, product.lanes);
    std::fill(c.outer.begin(), c.outer.end(), 0);
    c.row = columns;
  }
  const size_t depth = product.depth;
  // The product takes no negative strides either.
  const Operand& a = loop_.operands[product.a];
  const Operand& b = loop_.operands[product.b];
  product.packs_a = (product.a_depth != 1 && depth > 1) || a.row < 0 || a.is_converted;
  product.packs_b = (product.b_column != 1 && columns > 1) || product.b_depth < 0 || b.is_converted;
  const auto rows_of_b = static_cast<int64_t>(depth);
  const auto rows_of_a = static_cast<int64_t>(product.block_rows);
  if (product.packs_a) product.a_scratch = scratch(rows_of_a * rows_of_b, product.lanes);
  if (product.packs_b) product.b_scratch = scratch(rows_of_b * columns, product.lanes);
}

// Phase by phase; within one as they were added.
std::vector<size_t> LoopBuilder::order_members() {
  std::vector<size_t> order(members_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return members_[a].phase < members_[b].phase; });
  for (size_t place = 0; place < order.size(); ++place) {
    for (const Input& input : members_[order[place]].inputs) {
      if (input.is_operand) continue;
      Member& read = members_[input.index];
      read.last_use = std::max(read.last_use, place);
      read.last_phase = std::max(read.last_phase, members_[order[place]].phase);
    }
  }
  return order;
}

Loop LoopBuilder::finish() {
  set_domain(group_, std::move(raw_), loop_);
  set_blocks();
  const std::vector<size_t> order = order_members();
  size_t phases = 0;
  for (const Member& member : members_) phases = std::max(phases, member.phase + 1);
  loop_.phases.resize(phases);
  for (size_t place = 0; place < order.size(); ++place) emit(order[place], place);
  while (!loop_.phases.empty() && loop_.phases.back().steps.empty() &&
         loop_.phases.back().columns.empty()) {
    loop_.phases.pop_back();
  }
  return std::move(loop_);
}

}  // namespace hoist::graph::program
