#include "graph/kernels/row_code.h"

#include <algorithm>

namespace hoist::graph::kernels {

namespace {

// Elements of a row that a thread keeps in registers from one phase to the next, at most.
constexpr int64_t kKept = 32;

int64_t threads_of(RowTeam team) {
  return team == RowTeam::thread ? 1 : team == RowTeam::warp ? ir::kWarp : kThreads;
}

int column_lanes(const GroupPlan& plan, const Memories& memories, bool uses_vectors) {
  if (!uses_vectors || plan.column_axes.empty()) return 1;
  return Evaluation::lanes_of(plan, memories, plan.column_axes.back());
}

// A few elements at the end of a single axis do not count.
int element_lanes(const GroupPlan& plan, const Memories& memories, bool uses_vectors) {
  if (uses_vectors && plan.column_axes.size() == 1 && plan.columns >= 32) {
    return Evaluation::lanes_of(plan, memories, 8);
  }
  return column_lanes(plan, memories, uses_vectors);
}

template <typename Wanted>
std::vector<size_t> members_that(const GroupPlan& plan, const Wanted& is_wanted) {
  std::vector<size_t> found;
  for (size_t i = 0; i < plan.members.size(); ++i) {
    if (is_wanted(plan.members[i])) found.push_back(i);
  }
  return found;
}

void store_all(Evaluation& evaluation, Place& place, const std::vector<size_t>& members) {
  // All is read before anything is written: a result may take an input's place.
  for (const size_t member : members) evaluation.at(place, member);
  for (const size_t member : members) evaluation.store_at(place, member);
}

// One row, by a team of which this thread is number `lane`.
class RowCode {
 public:
  RowCode(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan, RowTeam team,
          Value lane, int lanes)
      : writer_(writer),
        evaluation_(evaluation),
        plan_(plan),
        team_(team),
        lane_(lane),
        lanes_(lanes),
        groups_(plan.columns / lanes),
        threads_(threads_of(team)) {
    turns_ = (groups_ + threads_ - 1) / threads_;
    keeps_ = team != RowTeam::thread && turns_ * lanes <= kKept;
  }

  void emit(Value is_row) {
    if (keeps_) {
      make_places();
      evaluation_.begin_scans(lane_);
    }
    for (size_t phase = 0; phase <= plan_.last_phase; ++phase) {
      const std::vector<size_t> reductions = reductions_of(plan_, phase);
      const std::vector<size_t> stores = stores_of(plan_, phase);
      if (reductions.empty() && stores.empty()) continue;
      for (const size_t member : reductions) evaluation_.prepare(member);
      for (const size_t member : stores) evaluation_.prepare(member);
      Sums sums(writer_, plan_, reductions, lanes_);
      if (keeps_) {
        walk_places(sums, stores, is_row);
      } else if (team_ == RowTeam::warp && has_scan(plan_)) {
        walk_together(sums, stores, is_row);
      } else {
        walk_columns(sums, stores, is_row);
      }
      for (size_t i = 0; i < reductions.size(); ++i) {
        const Member& member = plan_.members[reductions[i]];
        evaluation_.know(reductions[i], writer_.let(member.accumulation->decoded(
                                            writer_, sums.total(i, team_), member.type)));
      }
    }
    const std::vector<size_t> stores = row_stores(plan_);
    if (stores.empty()) return;
    for (const size_t member : stores) evaluation_.prepare(member);
    for (const size_t member : stores) (void)evaluation_.of_row(member);
    Value is_first = nullptr;
    if (threads_ > 1) {
      is_first = writer_.make.compare(ir::Comparison::equal, lane_, writer_.index(0)).value();
    }
    guarded(both(is_first, is_row), [&] {
      for (const size_t member : stores) evaluation_.store_row(member);
    });
  }

 private:
  Value both(Value a, Value b) {
    if (!a || !b) return a ? a : b;
    return writer_.binary(ir::BinaryOperator::bit_and, a, b);
  }

  template <typename Body>
  void guarded(Value condition, const Body& body) {
    if (condition) writer_.begin_if(condition);
    body();
    if (condition) writer_.end();
  }

  // Those beyond the row's end are at its last columns, and count for nothing.
  void make_places() {
    for (int64_t turn = 0; turn < turns_; ++turn) {
      const Value at = writer_.let(writer_.plus(lane_, turn * threads_));
      const bool is_whole = (turn + 1) * threads_ <= groups_;
      valid_.push_back(is_whole ? nullptr
                                : writer_.let(writer_.is_below(at, writer_.index(groups_))));
      const Value inside =
          is_whole ? at : writer_.let(writer_.smaller(at, writer_.index(groups_ - 1)));
      places_.emplace_back(inside, lanes_).is_valid = valid_.back();
    }
  }

  void walk_places(Sums& sums, const std::vector<size_t>& stores, Value is_row) {
    for (size_t i = 0; i < places_.size(); ++i) {
      sums.add(evaluation_, places_[i], valid_[i]);
      for (const size_t member : stores) evaluation_.at(places_[i], member);
    }
    for (size_t i = 0; i < places_.size() && !stores.empty(); ++i) {
      guarded(both(valid_[i], is_row), [&] {
        Place place = places_[i];  // what is computed for a store alone is known there alone
        for (const size_t member : stores) evaluation_.store_at(place, member);
      });
    }
  }

  void walk_columns(Sums& sums, const std::vector<size_t>& stores, Value is_row) {
    evaluation_.begin_scans(nullptr);
    const Value at = writer_.begin_for(lane_, writer_.index(groups_), writer_.index(threads_));
    Place place(at, lanes_);
    sums.add(evaluation_, place);
    for (const size_t member : stores) evaluation_.at(place, member);
    guarded(stores.empty() ? nullptr : is_row, [&] {
      for (const size_t member : stores) evaluation_.store_at(place, member);
    });
    writer_.end();
  }

  // All threads take as many turns, whatever the row's length.
  void walk_together(Sums& sums, const std::vector<size_t>& stores, Value is_row) {
    evaluation_.begin_scans(lane_);
    const Value begin =
        writer_.begin_for(writer_.index(0), writer_.index(groups_), writer_.index(threads_));
    const Value at = writer_.let(writer_.plus(begin, lane_));
    const Value is_valid = writer_.let(writer_.is_below(at, writer_.index(groups_)));
    Place place(writer_.let(writer_.smaller(at, writer_.index(groups_ - 1))), lanes_);
    place.is_valid = is_valid;
    sums.add(evaluation_, place, is_valid);
    for (const size_t member : stores) evaluation_.at(place, member);
    guarded(both(is_valid, is_row), [&] {
      for (const size_t member : stores) evaluation_.store_at(place, member);
    });
    writer_.end();
  }

  KernelWriter& writer_;
  Evaluation& evaluation_;
  const GroupPlan& plan_;
  const RowTeam team_;
  const Value lane_;
  const int lanes_;
  const int64_t groups_;
  const int64_t threads_;
  int64_t turns_ = 0;
  bool keeps_ = false;
  std::vector<Place> places_;
  std::vector<Value> valid_;
};

}  // namespace

std::vector<size_t> reductions_of(const GroupPlan& plan, size_t phase) {
  return members_that(plan, [&](const Member& m) { return m.accumulation && m.phase == phase; });
}
std::vector<size_t> stores_of(const GroupPlan& plan, size_t phase) {
  return members_that(plan,
                      [&](const Member& m) { return m.is_full && m.output && m.phase == phase; });
}
std::vector<size_t> row_stores(const GroupPlan& plan) {
  return members_that(plan, [](const Member& m) { return !m.is_full && m.output; });
}

int64_t rows_of_block(RowTeam team) { return kThreads / threads_of(team); }

Sums::Sums(KernelWriter& writer, const GroupPlan& plan, std::vector<size_t> members, int lanes)
    : writer_(writer), plan_(plan), members_(std::move(members)) {
  for (const size_t member : members_) {
    std::vector<Value>& sums = sums_.emplace_back();
    for (int i = 0; i < lanes; ++i) {
      sums.push_back(writer.variable(plan.members[member].accumulation->start(writer)));
    }
  }
}

void Sums::add(Evaluation& evaluation, Place& place, Value is_valid) {
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = plan_.members[members_[i]];
    const Accumulation& accumulation = *member.accumulation;
    const std::vector<Value> values = evaluation.reduced_at(place, members_[i]);
    for (size_t lane = 0; lane < values.size(); ++lane) {
      Value value = accumulation.encoded(writer_, values[lane]);
      if (is_valid) value = writer_.select(is_valid, value, accumulation.start(writer_));
      writer_.set(sums_[i][lane], accumulation.combined(writer_, sums_[i][lane], value));
    }
  }
}

Value Sums::reduced(KernelWriter& writer, const Accumulation& accumulation, Value value,
                    RowTeam team) {
  if (team == RowTeam::thread) return value;
  if (accumulation.is_product()) {  // of a warp, all of whose lanes find the same
    for (int64_t distance = ir::kWarp / 2; distance > 0; distance /= 2) {
      const Value mine = writer.let(value);
      value = accumulation.combined(writer, mine, writer.exchanged(mine, distance));
    }
    return writer.let(value);
  }
  return writer.reduce(team == RowTeam::warp ? ir::Reduce::Scope::warp : ir::Reduce::Scope::block,
                       accumulation.op(), value);
}

Value Sums::total(size_t i, RowTeam team) {
  const Accumulation& accumulation = *plan_.members[members_[i]].accumulation;
  std::vector<Value> values = sums_[i];
  while (values.size() > 1) {  // by pairs
    std::vector<Value> half;
    for (size_t k = 0; k + 1 < values.size(); k += 2) {
      half.push_back(accumulation.combined(writer_, values[k], values[k + 1]));
    }
    values = std::move(half);
  }
  return reduced(writer_, accumulation, writer_.let(values[0]), team);
}

int64_t element_groups(const GroupPlan& plan, const Memories& memories, bool uses_vectors) {
  const int lanes = element_lanes(plan, memories, uses_vectors);
  return std::max<int64_t>(plan.columns / lanes, 1);
}

void emit_elements(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan,
                   const Memories& memories, Value first, int64_t count, bool uses_vectors) {
  evaluation.begin_row(writer.index(0));
  const std::vector<size_t> stores = stores_of(plan, 0);
  for (const size_t member : stores) evaluation.prepare(member);
  const int lanes = element_lanes(plan, memories, uses_vectors);
  const int64_t groups = plan.columns / lanes;
  const int64_t left = plan.columns % lanes;
  Value at = first;
  if (groups > count) {
    at = writer.begin_for(first, writer.index(groups), writer.index(count));
  } else {
    writer.begin_if(writer.is_below(first, writer.index(groups)));
  }
  Place place(at, lanes);
  store_all(evaluation, place, stores);
  writer.end();
  if (left == 0) return;
  writer.begin_if(writer.is_below(first, writer.index(left)));
  Place last(writer.let(writer.plus(first, groups * lanes)));
  store_all(evaluation, last, stores);
  writer.end();
}

void emit_rows(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan,
               const Memories& memories, RowTeam team, Value block_row, int64_t step,
               bool uses_vectors) {
  const int64_t rows = rows_of_block(team);
  const int64_t blocks = (plan.rows + rows - 1) / rows;
  const bool loops = blocks > step;
  if (loops) block_row = writer.begin_for(block_row, writer.index(blocks), writer.index(step));
  const Value local = writer.let(writer.id(ir::Id::local));
  const int64_t threads = threads_of(team);
  const Value row =
      writer.let(writer.plus(writer.times(block_row, rows), writer.over(local, threads)));
  const Value lane = writer.let(writer.rest(local, threads));
  // What is behind the last row computes that one, too, and writes nothing.
  Value is_row = nullptr;
  Value inside = row;
  if (plan.rows % rows != 0) {
    is_row = writer.let(writer.is_below(row, writer.index(plan.rows)));
    inside = writer.smaller(row, writer.index(plan.rows - 1));
  }
  evaluation.begin_row(inside);
  RowCode(writer, evaluation, plan, team, lane, column_lanes(plan, memories, uses_vectors))
      .emit(is_row);
  if (loops) writer.end();
}

}  // namespace hoist::graph::kernels
