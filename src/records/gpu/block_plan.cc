#include "records/gpu/block_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "records/gpu/interval.h"
#include "records/gpu/sequence_plan.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a column of the block is damaged"); }

// Columns of the block that a name means.
template <typename IsIt>
std::vector<size_t> columns_of(const Block& block, const IsIt& is_it) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < block.columns().size(); ++i) {
    const BlockColumn& column = block.columns()[i];
    if (column.kind != ColumnKind::length && is_it(column.path)) columns.push_back(i);
  }
  return columns;
}

class BlockPlanner {
 public:
  BlockPlanner(const PlanContext& context, const Block& block, const BlockTarget& target)
      : context_(context),
        block_(block),
        target_(target),
        plan_(context, block, target.flag, jobs_) {}

  Result<BlockJobs> run() {
    jobs_.on_cpu.resize(context_.wanted->size());
    const std::vector<Condition>& where = *context_.where;
    if (!std::all_of(where.begin(), where.end(), [&](const Condition& condition) {
          return block_.format() == Format::plain || may_hold_somewhere(condition);
        })) {
      jobs_.is_skipped = true;
      OutputJob none = job();
      none.element = Element::uint8;
      none.out = target_.kept;
      set_answers({{0, 1}}, none);
      jobs_.conditions.push_back(none);
      jobs_.is_full = plan_.is_full();
      return std::move(jobs_);
    }
    for (size_t i = 0; i < where.size(); ++i) {
      if (Status status = condition(where[i], i > 0); !status) return status.error();
    }
    for (size_t i = 0; i < context_.wanted->size(); ++i) {
      if (Status status = output(i); !status) return status.error();
    }
    jobs_.is_full = plan_.is_full();
    return std::move(jobs_);
  }

 private:
  OutputJob job() const {
    OutputJob job{};
    job.first = target_.first;
    job.rows = target_.end - target_.first;
    job.flag = target_.flag;
    return job;
  }

  // The part that the device decodes; nothing where it cannot. `make_answer` is for texts.
  using MakeAnswer = std::function<Answer(std::string_view)>;
  // Sets the rule for a form of numbers; false where the device has none.
  using SetRule = std::function<bool(const NumberForm&, OutputJob&)>;

  Result<bool> values(const std::vector<size_t>& columns, const MakeAnswer& make_answer,
                      const SetRule& set_rule, OutputJob& job) {
    if (block_.format() == Format::plain || block_.rows() > kMaxRows) return false;
    if (columns.empty()) {
      set_answers({{job.missing, 0}}, job);
      return true;
    }
    if (columns.size() > 1 || target_.by_cpu) return false;
    const size_t column = columns[0];
    const auto places = block_.places({&column, 1});
    if (!places) return places.error();
    if (!places->front()) return false;
    const Result<const ColumnLayout*> layout = plan_.layout(column);
    if (!layout) return layout.error();
    const Result<bool> known = values(**layout, column, make_answer, set_rule, job);
    if (!known || !*known) return known;
    if (const std::vector<uint32_t>& rows = places->front()->places; !rows.empty()) {
      job.places = reinterpret_cast<const uint32_t*>(plan_.stage(std::as_bytes(std::span(rows))));
    }
    return true;
  }

  Result<bool> values(const ColumnLayout& layout, size_t column, const MakeAnswer& make_answer,
                      const SetRule& set_rule, OutputJob& job) {
    switch (layout.type) {
      case ColumnType::constant:
        set_answers(
            {make_answer({reinterpret_cast<const char*>(layout.text.data()), layout.text.size()})},
            job);
        return true;
      case ColumnType::dictionary:
        job.rule = ValueRule::answer;
        break;
      case ColumnType::numbers:
        // Digits of a fixed width are read by their form, which exceptions do not have.
        if (layout.form.type == NumberType::digits && layout.texts > 0) return false;
        range_ = block_.columns()[column].range;
        if (!set_rule(layout.form, job)) return false;
        break;
      default:
        return false;
    }
    const Result<DecodedStrings> texts = texts_of(layout, block_.raw_size());
    if (!texts) return texts.error();
    std::vector<Answer> answers;
    for (const std::string_view text : texts->strings) answers.push_back(make_answer(text));
    const Result<SequencePlan::Planned> sequence = plan_.sequence(column);
    if (!sequence) return sequence.error();
    if (!answers.empty() || layout.type == ColumnType::dictionary) {
      const ValueRule rule = job.rule;
      set_answers(answers, job);
      job.rule = rule;
    }
    job.values = sequence->values;
    sequence_on_cpu_ = sequence->on_cpu;
    if (layout.type == ColumnType::dictionary || layout.texts == 0) return true;
    const size_t count = block_.columns()[column].values;
    const Result<std::vector<int64_t>> positions = exceptions_of(layout, count);
    if (!positions) return positions.error();
    const std::vector<uint32_t> small(positions->begin(), positions->end());
    job.exceptions =
        reinterpret_cast<const uint32_t*>(plan_.stage(std::as_bytes(std::span(small))));
    job.exception_count = static_cast<uint32_t>(small.size());
    return true;
  }

  void set_answers(const std::vector<Answer>& answers, OutputJob& job) {
    job.rule = ValueRule::answer;
    job.answers = reinterpret_cast<const Answer*>(plan_.stage(std::as_bytes(std::span(answers))));
    job.answer_count = static_cast<uint32_t>(answers.size());
  }

  void set_rows(const std::vector<Answer>& answers, OutputJob& job) {
    set_answers(answers, job);
    job.by_row = true;
  }

  Status output(size_t number) {
    const WantedColumn& wanted = (*context_.wanted)[number];
    const std::vector<size_t> columns =
        columns_of(block_, [&](const std::string& path) { return path == wanted.path; });
    OutputJob job = this->job();
    job.element = element_of(wanted.type);
    job.missing = missing_of(wanted.type);
    job.out = target_.columns[number].values;
    job.valid = target_.columns[number].valid;
    const auto make_answer = [&](std::string_view text) {
      return context_.meaning->answer(number, text, block_.format(),
                                      block_.columns()[columns[0]].kind);
    };
    const auto set_rule = [&](const NumberForm& form, OutputJob& to) {
      return set_number_rule(number, form, to);
    };
    sequence_on_cpu_ = false;
    const Result<bool> known = values(columns, make_answer, set_rule, job);
    if (!known) return known.error();
    if (!*known) {
      const Result<std::vector<Answer>> answers = context_.meaning->answers(number, block_);
      if (!answers) return answers.error();
      if (answers->size() != block_.rows()) return damaged();
      set_rows(*answers, job);
    }
    jobs_.on_cpu[number] = !*known || sequence_on_cpu_;
    jobs_.outputs.push_back(job);
    return {};
  }

  bool set_number_rule(size_t number, const NumberForm& form, OutputJob& job) const {
    const WantedColumn& wanted = (*context_.wanted)[number];
    const bool is_decimal = form.type == NumberType::decimal;
    const bool is_plain = is_decimal || form.type == NumberType::integer;
    job.scale = is_decimal ? form.scale : 0;
    switch (wanted.type) {
      case DeviceType::int64:
        job.rule = ValueRule::integer;
        return form.type == NumberType::integer || form.type == NumberType::digits;
      case DeviceType::float64:
      case DeviceType::float32:
        job.rule = ValueRule::real;
        return is_plain;
      case DeviceType::decimal:
        job.rule = ValueRule::scaled;
        if (!is_plain || wanted.digits < job.scale || wanted.digits > kMaxScale) return false;
        job.factor = power_of_ten(wanted.digits - job.scale);
        return job.factor == 1 || is_small(wanted.digits);
      case DeviceType::timestamp: {
        if (form.type != NumberType::date || form.date.style == DateForm::time ||
            wanted.digits < form.date.fraction) {
          return false;
        }
        const auto zero = context_.meaning->timestamp(number, form.date, 0);
        if (!zero) return false;
        job.rule = ValueRule::timestamp;
        job.factor = power_of_ten(wanted.digits - form.date.fraction);
        job.offset = -*zero;
        return true;
      }
      default:
        return false;
    }
  }

  // Whether all numbers of the column are, with so many places.
  bool is_small(uint8_t digits) const {
    if (!range_) return false;
    const double most = std::max(std::abs(range_->least), std::abs(range_->most));
    return most * static_cast<double>(power_of_ten(digits)) < 9e18;
  }

  // Whether ranges of numbers show that a condition holds for no row.
  bool may_hold_somewhere(const Condition& condition) const {
    const std::vector<size_t> columns =
        columns_of(block_, [&](const std::string& path) { return is_path(condition.path, path); });
    return std::any_of(columns.begin(), columns.end(),
                       [&](size_t i) { return may_hold(condition, block_.columns()[i]); });
  }

  Status condition(const Condition& condition, bool both) {
    const std::vector<size_t> columns =
        columns_of(block_, [&](const std::string& path) { return is_path(condition.path, path); });
    OutputJob job = this->job();
    job.element = Element::uint8;
    job.out = target_.kept;
    job.both = both;
    const auto make_answer = [&](std::string_view text) {
      return Answer{holds(condition, text) ? 1u : 0u, 1};
    };
    const auto set_rule = [&](const NumberForm& form, OutputJob& to) {
      const std::optional<ExactNumber> than = number_of(condition);
      const bool is_plain = form.type == NumberType::integer || form.type == NumberType::decimal;
      if (!than || !is_plain) return false;
      const bool is_decimal = form.type == NumberType::decimal;
      const ExactNumber::Bound bound = than->bound(is_decimal ? form.scale : 0);
      const Interval interval =
          interval_of(condition.comparison, [&](int64_t value) { return bound.compare_to(value); });
      to.rule = ValueRule::between;
      to.least = interval.least;
      to.most = interval.most;
      to.outside = interval.outside;
      return true;
    };
    sequence_on_cpu_ = false;
    const Result<bool> known = values(columns, make_answer, set_rule, job);
    if (!known) return known.error();
    if (!*known) {
      std::vector<bool> keep(block_.rows(), true);
      if (Status status = apply(condition, block_, keep); !status) return status;
      std::vector<Answer> answers;
      answers.reserve(keep.size());
      for (const bool each : keep) answers.push_back({each ? 1u : 0u, 1});
      set_rows(answers, job);
    }
    jobs_.conditions_on_cpu += !*known || sequence_on_cpu_ ? 1 : 0;
    jobs_.conditions.push_back(job);
    return {};
  }

  const PlanContext& context_;
  const Block& block_;
  const BlockTarget& target_;
  BlockJobs jobs_;
  std::optional<ColumnRange> range_;  // of the column that is planned
  bool sequence_on_cpu_ = false;      // that of the column that was planned last
  SequencePlan plan_;
};

}  // namespace

Result<BlockJobs> plan_block(const PlanContext& context, const Block& block,
                             const BlockTarget& target) {
  return BlockPlanner(context, block, target).run();
}

}  // namespace hoist::records
