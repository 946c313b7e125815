#include "records/excerpt.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/varint.h"
#include "records/tokens_and_bits.h"

namespace hoist::records {
namespace {

// Rows of an excerpt, and those that count at the end of each of its two stretches.
constexpr Excerpt::Size kUsual{.rows = 12 << 10, .counted = 640};
constexpr Excerpt::Size kBest{.rows = 64 << 10, .counted = 4096};
// All rows count where they are no more than so many times those.
constexpr size_t kFew = 6;

// n log2 n, by a table: most counts are small.
double n_log_n(uint32_t n) {
  static const std::array<double, 4096> kTable = [] {
    std::array<double, 4096> table{};
    for (size_t i = 2; i < table.size(); ++i) {
      table[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
    }
    return table;
  }();
  return n < kTable.size() ? kTable[n] : n * std::log2(static_cast<double>(n));
}

// Whether it needs more of a row than its value and the one before.
bool looks_far(Predictor predictor) {
  return predictor == Predictor::line || predictor == Predictor::lag || has_group(predictor);
}

class Counter {
 public:
  void add(uint64_t value) {
    const Token token = token_of(value);
    ++counts_[token.symbol];
    bits_ += token.bits;
    ++total_;
  }
  double bits() const {
    double bits = static_cast<double>(bits_) + n_log_n(total_);
    for (const uint32_t n : counts_) bits -= n_log_n(n);
    return bits;
  }

 private:
  std::array<uint32_t, 256> counts_{};
  uint64_t bits_ = 0;
  uint32_t total_ = 0;
};

// Whether as many of some values recur as groups must, which is quicker than to number all. A value
// that is looked at is looked at in all rows. key(i) is the same where the groups are.
template <typename Key>
bool may_recur(size_t count, const Key& key) {
  constexpr unsigned kShift = 60;
  constexpr uint64_t kOneIn = uint64_t{1} << (64 - kShift);
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio (Knuth 6.4)
  const size_t expected = count / kOneIn;
  if (expected < 128) return true;
  std::vector<uint64_t> some;
  some.reserve(2 * expected);
  for (size_t i = 0; i < count; ++i) {
    if (key(i) * kSpread >> kShift == 0) some.push_back(key(i));
  }
  // Frequent values are among the others, or among these.
  if (some.size() < expected / 2 || some.size() > 2 * expected) return true;
  std::sort(some.begin(), some.end());
  const auto end = std::unique(some.begin(), some.end());
  const auto recurring = static_cast<size_t>(some.end() - end);
  return recurring * 4 >= some.size();
}

}  // namespace

Excerpt::Excerpt(std::span<const Sequence> sequences, Effort effort)
    : size_(effort == Effort::best ? kBest : kUsual) {
  parts_.reserve(sequences.size());
  for (const Sequence& sequence : sequences) parts_.push_back(make_part(sequence));
}

void Excerpt::add_beside(Part& part) {
  std::vector<uint32_t> numbers;
  for (const uint32_t i : part.quick) {
    part.beside.insert(part.beside.end(), {part.values[i - 1], part.values[i]});
    if (!part.is_number.empty() && !part.is_number[i]) continue;
    numbers.push_back(i);
    part.quick_beside.push_back(static_cast<uint32_t>(part.beside.size() - 1));
  }
  part.quick = std::move(numbers);
}

Excerpt::Part Excerpt::make_part(const Sequence& sequence) const {
  const NumberRows& rows = sequence.rows;
  Part part;
  if (rows.count < 3) return part;
  const std::vector<int64_t> copy = rows.exceptions.empty() ? std::vector<int64_t>() : filled(rows);
  const std::span<const int64_t> all = copy.empty() ? rows.numbers : std::span(copy);
  const size_t half = size_.rows / 2;
  const bool is_all = rows.count <= size_.rows;
  const std::array<std::pair<size_t, size_t>, 2> stretches =
      is_all ? std::array{std::pair{size_t{0}, rows.count}, std::pair{rows.count, rows.count}}
             : std::array{std::pair{rows.count / 2 - half, rows.count / 2},
                          std::pair{rows.count - half, rows.count}};
  part.values.reserve(std::min(rows.count, size_.rows));
  for (const auto& [begin, end] : stretches) {
    part.values.insert(part.values.end(), all.begin() + static_cast<ptrdiff_t>(begin),
                       all.begin() + static_cast<ptrdiff_t>(end));
  }
  if (!rows.exceptions.empty()) {
    std::vector<bool> is_number(rows.count, true);
    for (const int64_t at : rows.exceptions) is_number[static_cast<size_t>(at)] = false;
    for (const auto& [begin, end] : stretches) {
      part.is_number.insert(part.is_number.end(), is_number.begin() + static_cast<ptrdiff_t>(begin),
                            is_number.begin() + static_cast<ptrdiff_t>(end));
    }
  }
  part.least = part.most = part.values[0];
  for (const int64_t value : part.values) {
    part.least = std::min(part.least, value);
    part.most = std::max(part.most, value);
  }
  const auto size = static_cast<uint32_t>(part.values.size());
  if (size <= kFew * size_.counted) {
    part.ranges = {{1, size}};
  } else {
    for (const uint32_t end : {size / 2, size})
      part.ranges.emplace_back(end - static_cast<uint32_t>(size_.counted), end);
  }
  for (const auto& [begin, end] : part.ranges) part.counted += end - begin;
  // Neighbours are alike: rows from everywhere.
  const size_t quick = std::min(kQuickRows, part.counted);
  for (size_t i = 0; i < quick; ++i) {
    // A step that is prime to the count spreads the first few as well.
    size_t at = i * 37 % quick * part.counted / quick;
    for (const auto& [begin, end] : part.ranges) {
      if (at < end - begin) {
        part.quick.push_back(static_cast<uint32_t>(begin + at));
        break;
      }
      at -= end - begin;
    }
  }
  add_beside(part);
  return part;
}

bool Excerpt::recurs(const Part& part, const std::vector<uint32_t>& positions) const {
  size_t seen = 0;
  size_t apart = 0;
  for (const uint32_t i : part.quick) {
    const bool far = positions[i] + 1 != i;
    apart += static_cast<size_t>(far);
    seen += static_cast<size_t>(far || part.values[i] == part.values[i - 1]);
  }
  return seen * 2 >= part.quick.size() && apart * 16 >= part.quick.size() && apart > 0;
}

const std::optional<Groups>& Excerpt::numbered(uint32_t sequence) {
  const auto [place, is_new] = numbered_.try_emplace(sequence);
  if (!is_new) return place->second;
  const Part& part = parts_[sequence];
  // Few different numbers are numbered quickly.
  const uint64_t range = static_cast<uint64_t>(subtract_modulo(part.most, part.least));
  const auto key = [&](size_t i) { return static_cast<uint64_t>(part.values[i]); };
  if (range < part.values.size() || may_recur(part.values.size(), key)) {
    place->second = number_groups(part.values);
  }
  return place->second;
}

std::optional<Groups> Excerpt::pairs(uint32_t group, uint32_t other) {
  const std::optional<Groups>& groups = numbered(group);
  const std::optional<Groups>& others = numbered(other);
  if (!groups || !others) return std::nullopt;
  const auto key = [&](size_t i) { return uint64_t{groups->of[i]} << 32 | others->of[i]; };
  if (!may_recur(groups->of.size(), key)) return std::nullopt;
  return number_pairs(*groups, *others);
}

const Excerpt::Before& Excerpt::before(uint32_t group, uint32_t other) {
  const auto [place, is_new] = before_.try_emplace({group, other});
  Before& before = place->second;
  if (!is_new || parts_[group].values.size() != parts_[other].values.size()) return before;
  if (group != other) {
    if (const std::optional<Groups> both = pairs(group, other)) {
      before.positions = positions_before(*both);
    }
  } else if (const std::optional<Groups>& groups = numbered(group)) {
    before.positions = positions_before(*groups);
  }
  if (!before.positions.empty()) before.recurs = recurs(parts_[group], before.positions);
  return before;
}

Sources Excerpt::sources(const Prediction& prediction) {
  Sources sources;
  sources.factor = prediction.factor;
  if (has_first(prediction.predictor)) sources.first = values(prediction.first);
  if (has_second(prediction.predictor)) sources.second = values(prediction.second);
  if (has_group(prediction.predictor)) {
    const bool pair = has_other_group(prediction.predictor);
    sources.before =
        before(prediction.group, pair ? prediction.other_group : prediction.group).positions;
  }
  return sources;
}

double Excerpt::cost(uint32_t own, const Prediction& prediction) {
  const Part& part = parts_[own];
  const Sources from = sources(prediction);
  const auto for_rows = [&](const auto& body) {
    for (const auto& [begin, end] : part.ranges) {
      for (uint32_t i = begin; i < end; ++i) {
        if (part.is_number.empty() || part.is_number[i]) body(i);
      }
    }
  };
  Counter counter;
  with_constant(prediction.predictor, [&](auto constant) {
    for_rows([&](uint32_t i) {
      const int64_t predicted = predict(constant(), part.values, from, i);
      counter.add(zigzag(subtract_modulo(part.values[i], predicted)));
    });
  });
  if (prediction.predictor != Predictor::none) return counter.bits();
  int64_t least = INT64_MAX;
  for_rows([&](uint32_t i) { least = std::min(least, part.values[i]); });
  Counter from_least;
  for_rows([&](uint32_t i) {
    from_least.add(static_cast<uint64_t>(subtract_modulo(part.values[i], least)));
  });
  return std::min(counter.bits(), from_least.bits());
}

Sources Excerpt::sources_beside(const Prediction& prediction) const {
  Sources sources;
  sources.factor = prediction.factor;
  if (has_first(prediction.predictor)) sources.first = parts_[prediction.first].beside;
  if (has_second(prediction.predictor)) sources.second = parts_[prediction.second].beside;
  return sources;
}

bool Excerpt::may_be_times(uint32_t sequence) const {
  const Part& part = parts_[sequence];
  return std::all_of(part.quick_beside.begin(), part.quick_beside.end(), [&](uint32_t i) {
    return part.beside[i] >= 0 && part.beside[i] <= 2400 && part.beside[i] % 100 < 60;
  });
}

double Excerpt::bits_of_range(uint32_t own) const {
  const Part& part = parts_[own];
  const auto numbers = static_cast<double>(part.counted);
  return numbers * std::log2(1 + static_cast<double>(part.most) - static_cast<double>(part.least));
}

size_t Excerpt::quick_cost(uint32_t own, const Prediction& prediction, size_t rows, size_t most) {
  const Part& part = parts_[own];
  const bool is_far = looks_far(prediction.predictor);
  const Sources from = is_far ? sources(prediction) : sources_beside(prediction);
  const std::span<const int64_t> values = is_far ? part.values : part.beside;
  const std::span<const uint32_t> all = is_far ? part.quick : part.quick_beside;
  const std::span<const uint32_t> quick = all.first(std::min(rows, all.size()));
  size_t bits = 0;
  const auto add = [&](uint64_t value) { bits += static_cast<size_t>(std::bit_width(value)); };
  if (prediction.predictor == Predictor::none) {
    for (const uint32_t i : quick)
      add(static_cast<uint64_t>(subtract_modulo(values[i], part.least)));
    return bits;
  }
  with_constant(prediction.predictor, [&](auto constant) {
    for (const uint32_t i : quick) {
      add(zigzag(subtract_modulo(values[i], predict(constant(), values, from, i))));
      if (bits > most) return;
    }
  });
  return bits;
}

}  // namespace hoist::records
