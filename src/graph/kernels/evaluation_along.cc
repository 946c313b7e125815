// Values of members that go along an axis.
#include <limits>

#include "graph/kernels/conversion.h"
#include "graph/kernels/evaluation.h"
#include "graph/kernels/functions.h"

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Comparison;
using ir::Scalar;

std::vector<Value> Evaluation::reduced_at(Place& place, size_t index) {
  const Member& member = plan_.members[index];
  return member.is_place ? places_at(place, member) : input_at(place, member.inputs[0]);
}

// Columns that have the row's extreme; others have a number that loses. Zeros are equal.
std::vector<Value> Evaluation::places_at(Place& place, const Member& member) {
  const std::vector<Value> values = input_at(place, member.inputs[0]);
  const Value extreme = of_row(member.inputs[1].member);
  const Scalar type = member.accumulation->type();
  const Value first =
      writer_.let(writer_.cast(type, writer_.times(place.column, int64_t{place.lanes})));
  Functions make(writer_, extreme->type.scalar);
  std::vector<Value> places;
  for (const Value given : values) {
    const auto lane = static_cast<int64_t>(places.size());
    const Value value = converted(writer_, extreme->type.scalar, given);  // free casts are left out
    Value is_extreme = make.compare(Comparison::equal, value, extreme);
    if (ir::is_float(extreme->type.scalar)) {
      const Value are_nan =
          writer_.binary(BinaryOperator::bit_and, make.is_nan(value), make.is_nan(extreme));
      is_extreme = writer_.binary(BinaryOperator::bit_or, is_extreme, are_nan);
    }
    const Value column =
        writer_.binary(BinaryOperator::add, first, writer_.make.integer(type, lane));
    places.push_back(
        writer_.let(writer_.select(is_extreme, column, member.accumulation->start(writer_))));
  }
  return places;
}

void Evaluation::begin_scans(Value lane, const std::map<size_t, Value>& before) {
  scans_.clear();
  scan_lane_ = lane;
  for (size_t i = 0; i < plan_.members.size(); ++i) {
    const Member& member = plan_.members[i];
    if (!member.is_scan) continue;
    const auto known = before.find(i);
    scans_[i] =
        writer_.variable(known == before.end() ? sum_start(writer_, member.type) : known->second);
  }
}

std::vector<Value> Evaluation::sums_at(Place& place, size_t index) {
  const Scalar type = plan_.members[index].type;
  const Value sum = scans_.at(index);
  const auto add = [&](Value a, Value b) {
    return writer_.let(writer_.binary(BinaryOperator::add, a, b));
  };
  std::vector<Value> sums;
  if (!scan_lane_) {
    for (const Value value : input_at(place, plan_.members[index].inputs[0])) {
      sums.push_back(add(sums.empty() ? sum : sums.back(), converted(writer_, type, value)));
    }
    writer_.set(sum, sums.back());
    return sums;
  }
  for (const Value given : input_at(place, plan_.members[index].inputs[0])) {
    Value value = converted(writer_, type, given);
    if (place.is_valid) value = writer_.select(place.is_valid, value, sum_start(writer_, type));
    sums.push_back(sums.empty() ? writer_.let(value) : add(sums.back(), value));
  }
  const Value before = before_lane(sums.back(), sum);
  for (Value& own : sums) own = add(before, own);
  return sums;
}

// What the row has before this lane, whose own sum is `mine`; adds the whole warp's to `sum`.
Value Evaluation::before_lane(Value mine, Value sum) {
  const Value so_far = writer_.sum_of_lanes(scan_lane_, mine);
  const Value others = writer_.shuffled(ir::ShuffleKind::up, so_far, 1);
  const Value before =
      writer_.let(writer_.binary(BinaryOperator::add, sum,
                                 writer_.select(writer_.is_from(scan_lane_, 1), others,
                                                sum_start(writer_, mine->type.scalar))));
  const Value all = writer_.shuffled(ir::ShuffleKind::index, so_far, ir::kWarp - 1);
  writer_.set(sum, writer_.binary(BinaryOperator::add, sum, all));
  return before;
}

std::vector<Value> Evaluation::taken_at(Place& place, const Member& member) {
  const std::vector<Value> indices = input_at(place, member.inputs[0]);
  const Operand& table = plan_.operands[member.table->operand];
  const Value first =
      table.constant ? writer_.index(0) : writer_.let(index_at(place, member.table->operand, 1));
  const int64_t step = table.columns.empty() ? 0 : table.columns.back();
  std::vector<Value> values;
  for (const Value index : indices) {
    const auto lane = static_cast<int64_t>(values.size());
    values.push_back(taken(member, index, writer_.plus(first, step * lane)));
  }
  return values;
}

// What lies outside is never read: NaN, of other types 0.
Value Evaluation::taken(const Member& member, Value index, Value first) {
  const Table& table = *member.table;
  const Scalar type = member.type;
  const Value nothing = type == Scalar::boolean ? writer_.make.boolean(false)
                        : ir::is_float(type)
                            ? writer_.make.real(type, std::numeric_limits<double>::quiet_NaN())
                            : writer_.make.integer(type, 0);
  if (table.extent == 0) return nothing;
  const auto number = [&](int64_t value) { return writer_.make.integer(Scalar::i64, value); };
  const auto compared = [&](Comparison comparison, Value a, int64_t b) {
    return writer_.make.compare(comparison, a, number(b)).value();
  };
  const Value given = writer_.let(writer_.cast(Scalar::i64, index));
  const Value at = writer_.let(
      writer_.select(compared(Comparison::less, given, 0),
                     writer_.binary(BinaryOperator::add, given, number(table.extent)), given));
  const Value is_inside = writer_.let(writer_.binary(BinaryOperator::bit_and,
                                                     compared(Comparison::greater_equal, at, 0),
                                                     compared(Comparison::less, at, table.extent)));
  const Operand& operand = plan_.operands[table.operand];
  Value element = nullptr;
  if (operand.constant) {
    element = kernels::number(writer_, *operand.constant);
  } else {
    const Value inside =
        writer_.cast(writer_.index_type(), writer_.select(is_inside, at, number(0)));
    const ir::Array* const array = array_of(table.operand);
    const Value place = writer_.plus(first, writer_.times(inside, table.step));
    element = loaded(array, table.operand, writer_.let(writer_.load(array, place)));
  }
  return writer_.let(writer_.select(is_inside, converted(writer_, type, element), nothing));
}

}  // namespace hoist::graph::kernels
