#include "graph/kernels/evaluation.h"

#include <algorithm>

#include "graph/kernels/conversion.h"

namespace hoist::graph::kernels {

using ir::Direction;
using ir::Scalar;
using program::Op;

namespace {

// Lanes of one operand of strides `strides`: the last of them is 1, and all else is a multiple.
bool aligns(const Operand& operand, int64_t lanes) {
  if (operand.columns.empty() || operand.columns.back() != 1 || operand.offset % lanes != 0) {
    return false;
  }
  const auto fits = [&](int64_t stride) { return stride % lanes == 0; };
  return std::all_of(operand.columns.begin(), operand.columns.end() - 1, fits) &&
         std::all_of(operand.rows.begin(), operand.rows.end(), fits);
}

bool is_dense(const Extents& extents, const Extents& strides, int64_t unit) {
  int64_t expected = unit;
  for (size_t i = extents.size(); i-- > 0;) {
    if (strides[i] != expected) return false;
    expected *= extents[i];
  }
  return true;
}

}  // namespace

int Evaluation::lanes_of(const GroupPlan& plan, const Memories& memories, int64_t columns) {
  if (plan.product || plan.column_axes.empty()) return 1;
  int widest = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.constant || operand.is_of_row()) continue;
    widest = std::max(widest, ir::bytes(memories[operand.storage].element));
  }
  if (widest == 0) return 1;
  for (int lanes = std::min(8, 16 / widest); lanes > 1; lanes /= 2) {
    const bool is_any =
        std::any_of(plan.operands.begin(), plan.operands.end(), [&](const Operand& operand) {
          return !operand.constant && !operand.is_of_row() && aligns(operand, lanes);
        });
    if (columns % lanes == 0 && is_any) return lanes;
  }
  return 1;
}

void Evaluation::declare_arrays() {
  std::map<Storage, bool> is_written;
  for (const Member& member : plan_.members) {
    if (member.output) is_written[plan_.operands[*member.output].storage] = true;
  }
  for (const Operand& operand : plan_.operands) {
    if (operand.constant) continue;
    writer_.array(operand.storage, memories_[operand.storage],
                  is_written[operand.storage] ? Direction::inout : Direction::in);
  }
}

void Evaluation::begin_row(Value row) {
  row_ = writer_.let(row);
  row_coordinates_.clear();
  of_row_.clear();
  operands_of_row_.clear();
  bases_.clear();
  prepared_.clear();
}

const ir::Array* Evaluation::array_of(size_t operand) {
  const Storage storage = plan_.operands[operand].storage;
  return writer_.array(storage, memories_[storage], Direction::inout);
}

bool Evaluation::is_aligned(size_t operand, int lanes) const {
  return aligns(plan_.operands[operand], lanes);
}

// Sum of the coordinates of element `linear` of an array, times strides.
Value Evaluation::coordinates_index(Value linear, const Extents& extents, const Extents& strides,
                                    std::vector<Value>& coordinates) {
  if (extents.empty()) return writer_.index(0);
  if (is_dense(extents, strides, strides.back())) return writer_.times(linear, strides.back());
  if (coordinates.empty()) {
    coordinates.resize(extents.size());
    Value left = linear;
    for (size_t i = extents.size(); i-- > 1;) {
      coordinates[i] = writer_.let(writer_.rest(left, extents[i]));
      left = writer_.let(writer_.over(left, extents[i]));
    }
    coordinates[0] = left;
  }
  Value index = writer_.index(0);
  for (size_t i = 0; i < extents.size(); ++i) {
    index = writer_.plus(index, writer_.times(coordinates[i], strides[i]));
  }
  return index;
}

// Where the row begins in an operand, in units of `lanes`.
Value Evaluation::base_of(size_t operand, int lanes) {
  const auto known = bases_.find({operand, lanes});
  if (known != bases_.end()) return known->second;
  const Operand& of = plan_.operands[operand];
  Extents strides = of.rows;
  for (int64_t& stride : strides) stride /= lanes;
  const Value index = coordinates_index(row_, plan_.row_axes, strides, row_coordinates_);
  return bases_[{operand, lanes}] = writer_.let(writer_.plus(index, of.offset / lanes));
}

// Where the place's first column lies in an operand, in units of `lanes`: 1, or the place's.
Value Evaluation::index_at(Place& place, size_t operand, int lanes) {
  const Operand& of = plan_.operands[operand];
  Extents extents = plan_.column_axes;
  Extents strides = of.columns;
  if (!extents.empty()) {
    extents.back() /= place.lanes;
    strides.back() *= place.lanes;
    for (int64_t& stride : strides) stride /= lanes;
  }
  const Value at = coordinates_index(place.column, extents, strides, place.coordinates);
  return writer_.plus(base_of(operand, lanes), at);
}

// As a value: booleans are bytes in memory.
Value Evaluation::loaded(const ir::Array* array, size_t operand, Value element) {
  const auto& node = memories_[plan_.operands[operand].storage].node;
  if (array->element != Scalar::u8 || !node || graph_[*node].dtype != DType::boolean) {
    return element;
  }
  return writer_.make
      .compare(ir::Comparison::not_equal, element, writer_.make.integer(Scalar::u8, 0))
      .value();
}

Value Evaluation::as_stored(Value value) const {
  if (value->type.scalar != Scalar::boolean) return value;
  return writer_.cast(Scalar::u8, value);
}

Value Evaluation::operand_of_row(size_t operand) {
  const Operand& of = plan_.operands[operand];
  if (of.constant) return number(writer_, *of.constant);
  const auto known = operands_of_row_.find(operand);
  if (known != operands_of_row_.end()) return known->second;
  const ir::Array* array = array_of(operand);
  const Value element = writer_.let(writer_.load(array, base_of(operand, 1)));
  return operands_of_row_[operand] = writer_.let(loaded(array, operand, element));
}

std::vector<Value> Evaluation::load_at(Place& place, size_t operand) {
  const Operand& of = plan_.operands[operand];
  const auto lanes = static_cast<size_t>(place.lanes);
  if (of.constant || of.is_of_row()) return std::vector<Value>(lanes, operand_of_row(operand));
  const auto known = place.loaded.find(operand);
  if (known != place.loaded.end()) return known->second;
  const ir::Array* array = array_of(operand);
  std::vector<Value> values;
  if (place.lanes > 1 && is_aligned(operand, place.lanes)) {
    const Value vector =
        writer_.let(writer_.load(array, index_at(place, operand, place.lanes), place.lanes));
    for (int i = 0; i < place.lanes; ++i) {
      values.push_back(writer_.let(loaded(array, operand, writer_.make.lane(vector, i).value())));
    }
  } else {
    const Value first = writer_.let(index_at(place, operand, 1));
    const int64_t step = of.columns.back();
    for (int i = 0; i < place.lanes; ++i) {
      const bool is_again = i > 0 && step == 0;
      const Value index = writer_.plus(first, step * i);
      values.push_back(
          is_again ? values[0]
                   : writer_.let(loaded(array, operand, writer_.let(writer_.load(array, index)))));
    }
  }
  return place.loaded[operand] = values;
}

std::vector<Value> Evaluation::input_at(Place& place, const Input& input) {
  if (input.operand) return load_at(place, *input.operand);
  if (!plan_.members[input.member].is_full) {
    return std::vector<Value>(static_cast<size_t>(place.lanes), of_row(input.member));
  }
  return at(place, input.member);
}

const std::vector<Value>& Evaluation::at(Place& place, size_t index) {
  const auto known = place.made.find(index);
  if (known != place.made.end()) return known->second;
  const Member& member = plan_.members[index];
  std::vector<Value> values;
  if (member.op == Op::matmul) {
    values = product_at(place, member.type);
  } else if (member.table) {
    values = taken_at(place, member);
  } else if (member.is_scan) {
    values = sums_at(place, index);
  } else {
    std::vector<std::vector<Value>> inputs;
    for (const Input& input : member.inputs) inputs.push_back(input_at(place, input));
    for (size_t lane = 0; lane < static_cast<size_t>(place.lanes); ++lane) {
      std::vector<Value> of_lane;
      for (const auto& input : inputs) of_lane.push_back(input[lane]);
      values.push_back(computed(member, of_lane));
    }
  }
  return place.made[index] = std::move(values);
}

Value Evaluation::computed(const Member& member, const std::vector<Value>& inputs) {
  if (member.is_conversion || member.op == Op::cumulative_sum)
    return writer_.let(converted(writer_, member.type, inputs[0]));
  return writer_.let(apply(writer_, graph_, graph_[member.id], inputs));
}

Value Evaluation::of_row(size_t index) {
  const auto known = of_row_.find(index);
  if (known != of_row_.end()) return known->second;
  const Member& member = plan_.members[index];
  std::vector<Value> inputs;
  for (const Input& input : member.inputs) {
    inputs.push_back(input.operand ? operand_of_row(*input.operand) : of_row(input.member));
  }
  return of_row_[index] = member.table ? taken(member, inputs[0], base_of(member.table->operand, 1))
                                       : computed(member, inputs);
}

void Evaluation::prepare_bases(size_t operand) {
  for (const int lanes : {1, 2, 4, 8}) {
    if (lanes == 1 || is_aligned(operand, lanes)) base_of(operand, lanes);
  }
}

void Evaluation::prepare(size_t index) {
  if (!prepared_.insert(index).second) return;
  const Member& member = plan_.members[index];
  if (!member.is_full && !member.accumulation) {
    of_row(index);
    return;
  }
  if (member.output) prepare_bases(*member.output);
  if (member.op == Op::matmul) {
    prepare_bases(plan_.product->a);
    prepare_bases(plan_.product->b);
  }
  if (member.table) prepare_bases(member.table->operand);
  for (const Input& input : member.inputs) {
    if (!input.operand) {
      const Member& from = plan_.members[input.member];
      if (!from.accumulation) prepare(input.member);
    } else if (plan_.operands[*input.operand].is_of_row()) {
      operand_of_row(*input.operand);
    } else {
      prepare_bases(*input.operand);
    }
  }
}

void Evaluation::store_row(size_t index) {
  const Member& member = plan_.members[index];
  writer_.store(array_of(*member.output), base_of(*member.output, 1), as_stored(of_row(index)));
}

void Evaluation::store_at(Place& place, size_t index) {
  const size_t operand = *plan_.members[index].output;
  const std::vector<Value> values = at(place, index);
  const ir::Array* array = array_of(operand);
  std::vector<Value> stored;
  for (const Value value : values) stored.push_back(as_stored(value));
  if (place.lanes > 1 && is_aligned(operand, place.lanes)) {
    writer_.store(array, index_at(place, operand, place.lanes),
                  writer_.make.vector(stored).value());
    return;
  }
  const Value first = writer_.let(index_at(place, operand, 1));
  const Extents& strides = plan_.operands[operand].columns;
  const int64_t step = strides.empty() ? 0 : strides.back();
  for (int i = 0; i < place.lanes; ++i) {
    writer_.store(array, writer_.plus(first, step * i), stored[static_cast<size_t>(i)]);
  }
}

}  // namespace hoist::graph::kernels
