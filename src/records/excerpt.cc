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

}  // namespace

Excerpt::Excerpt(std::span<const Sequence> sequences, Effort effort)
    : size_(effort == Effort::best ? kBest : kUsual) {
  parts_.reserve(sequences.size());
  for (const Sequence& sequence : sequences) parts_.push_back(make_part(sequence));
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
  std::erase_if(part.quick,
                [&](uint32_t i) { return !part.is_number.empty() && !part.is_number[i]; });
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
  if (is_new) place->second = number_groups(values(sequence));
  return place->second;
}

const Excerpt::Before& Excerpt::before(uint32_t group, uint32_t other) {
  const auto [place, is_new] = before_.try_emplace({group, other});
  Before& before = place->second;
  if (!is_new || parts_[group].values.size() != parts_[other].values.size()) return before;
  const std::optional<Groups>& groups = numbered(group);
  if (group != other && groups && numbered(other)) {
    if (const std::optional<Groups> pairs = number_pairs(*groups, *numbered(other))) {
      before.positions = positions_before(*pairs);
    }
  } else if (group == other && groups) {
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

size_t Excerpt::quick_cost(uint32_t own, const Prediction& prediction, size_t rows) {
  const Part& part = parts_[own];
  const Sources from = sources(prediction);
  size_t bits = 0;
  with_constant(prediction.predictor, [&](auto constant) {
    for (size_t n = 0; n < std::min(rows, part.quick.size()); ++n) {
      const uint32_t i = part.quick[n];
      const int64_t predicted = predict(constant(), part.values, from, i);
      bits +=
          static_cast<size_t>(std::bit_width(zigzag(subtract_modulo(part.values[i], predicted))));
    }
  });
  return bits;
}

}  // namespace hoist::records
