#include "match/fuzz/edit_distances.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "match/fuzz/masked_counts.h"

namespace hoist::match {
namespace {

void skip_equal_ends(Symbols& a, Symbols& b) {
  const uint64_t front = common_prefix(a, b);
  a = a.subspan(front);
  b = b.subspan(front);
  const uint64_t back = common_suffix(a, b);
  a = a.first(a.size() - back);
  b = b.first(b.size() - back);
}

std::vector<uint64_t> first_row(size_t columns, uint64_t cost) {
  std::vector<uint64_t> row(columns + 1);
  for (size_t j = 0; j <= columns; ++j) row[j] = j * cost;
  return row;
}

// work(masks of a): those of the last call's memory, unless there are many.
template <typename Work>
auto with_masks(Symbols a, const Work& work) {
  constexpr size_t kMostKept = 4096;
  if (a.size() > kMostKept) return work(QueryMasks(a));
  thread_local QueryMasks masks;
  masks.set(a);
  return work(masks);
}

Sequence sequence_of(Symbols symbols) { return {symbols.data(), symbols.size()}; }

// Symbols of a sequence by numbers from 1 on, in the order in which they come; 0 for all others.
class SymbolOrder {
 public:
  SymbolOrder() : low_(256) {}

  void set(Symbols symbols, std::vector<uint32_t>& numbers) {
    for (const uint32_t symbol : used_) low_[symbol] = 0;
    used_.clear();
    high_.clear();
    uint32_t next = 1;
    for (const uint32_t symbol : symbols) {
      uint32_t& number = symbol < low_.size() ? low_[symbol] : high_[symbol];
      if (number == 0) {
        number = next++;
        if (symbol < low_.size()) used_.push_back(symbol);
      }
      numbers.push_back(number);
    }
  }

  uint32_t operator[](uint32_t symbol) const {
    if (symbol < low_.size()) return low_[symbol];
    const auto found = high_.find(symbol);
    return found == high_.end() ? 0 : found->second;
  }

 private:
  std::vector<uint32_t> low_;
  std::vector<uint32_t> used_;
  std::unordered_map<uint32_t, uint32_t> high_;
};

class TranspositionRows {
 public:
  uint64_t distance(Symbols a, Symbols b) {
    const size_t m = a.size();
    const auto infinite = static_cast<uint32_t>(m + b.size() + 1);
    numbers_.clear();
    order_.set(a, numbers_);
    last_row_.assign(m + 1, 0);
    for (std::vector<uint32_t>* const row : {&crossed_, &before_, &above_, &row_}) {
      row->assign(m + 2, infinite);  // element j + 1 is column j
    }
    std::iota(above_.begin() + 1, above_.end(), 0);
    for (size_t i = 1; i <= b.size(); ++i) {
      const uint32_t number = order_[b[i - 1]];
      fill_row(static_cast<uint32_t>(i), number);
      if (number != 0) last_row_[number] = static_cast<uint32_t>(i);
      before_.swap(above_);
      above_.swap(row_);
    }
    return above_[m + 1];
  }

 private:
  void fill_row(uint32_t i, uint32_t number) {
    const auto m = static_cast<uint32_t>(numbers_.size());
    const uint32_t* const numbers = numbers_.data();
    const uint32_t* const last_row = last_row_.data();
    const uint32_t* const before = before_.data();
    const uint32_t* const above = above_.data();
    uint32_t* const crossed = crossed_.data();
    uint32_t* const row = row_.data();
    uint32_t last_column = 0;  // with b's symbol
    uint32_t at_last_match = 0;
    uint32_t left = row[1] = i;
    for (uint32_t j = 1; j <= m; ++j) {
      const uint32_t other = numbers[j - 1];
      uint32_t cost = std::min(left, above[j + 1]) + 1;
      if (other == number) {
        cost = std::min(cost, above[j]);
        last_column = j;
        crossed[j + 1] = above[j - 1];
        at_last_match = before[j];
      } else {
        cost = std::min(cost, above[j] + 1);
        const uint32_t k = last_row[other];
        if (last_column != 0 && k != 0) {
          if (j - last_column == 1) cost = std::min(cost, crossed[j + 1] + (i - k));
          if (i - k == 1) cost = std::min(cost, at_last_match + (j - last_column));
        }
      }
      row[j + 1] = left = cost;
    }
  }

  SymbolOrder order_;
  std::vector<uint32_t> numbers_;   // of a's symbols
  std::vector<uint32_t> last_row_;  // by number: the last row with this symbol
  std::vector<uint32_t> crossed_;
  std::vector<uint32_t> before_;
  std::vector<uint32_t> above_;
  std::vector<uint32_t> row_;
};

}  // namespace

uint64_t EditWeights::most(uint64_t m, uint64_t n) const {
  const uint64_t all = m * deletion + n * insertion;
  const uint64_t replaced =
      m >= n ? n * replacement + (m - n) * deletion : m * replacement + (n - m) * insertion;
  return std::min(all, replaced);
}

uint64_t weighted_distance(Symbols a, Symbols b, const EditWeights& weights) {
  skip_equal_ends(a, b);
  if (weights.are_of_one_cost()) {
    return weights.insertion * with_masks(a, [&](const QueryMasks& masks) {
             if (!weights.are_indels()) return levenshtein_distance(masks, sequence_of(b));
             return a.size() + b.size() - 2 * lcs_length(masks, sequence_of(b));
           });
  }
  std::vector<uint64_t> row = first_row(a.size(), weights.deletion);
  for (const uint32_t symbol : b) {
    uint64_t diagonal = row[0];
    row[0] += weights.insertion;
    for (size_t j = 1; j <= a.size(); ++j) {
      const uint64_t above = row[j];
      row[j] = a[j - 1] == symbol
                   ? diagonal
                   : std::min({row[j - 1] + weights.deletion, above + weights.insertion,
                               diagonal + weights.replacement});
      diagonal = above;
    }
  }
  return row.back();
}

uint64_t osa_distance(Symbols a, Symbols b) {
  skip_equal_ends(a, b);
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return b.size();
  return with_masks(a,
                    [&](const QueryMasks& masks) { return osa_distance(masks, sequence_of(b)); });
}

uint64_t damerau_levenshtein_distance(Symbols a, Symbols b) {
  skip_equal_ends(a, b);
  if (a.empty() || b.empty()) return a.size() + b.size();
  // Three rows and, for each column, what the row above the last row with this column's symbol had
  // (C. Zhao and S. Sahni, "Linear space string correction algorithm using the Damerau-Levenshtein
  // distance", 2020).
  constexpr size_t kMostKept = 4096;
  thread_local TranspositionRows kept;
  if (std::max(a.size(), b.size()) <= kMostKept) return kept.distance(a, b);
  return TranspositionRows().distance(a, b);
}

uint64_t hamming_distance(Symbols a, Symbols b) {
  const size_t common = std::min(a.size(), b.size());
  uint64_t differences = std::max(a.size(), b.size()) - common;
  for (size_t i = 0; i < common; ++i) differences += a[i] != b[i] ? 1 : 0;
  return differences;
}

uint64_t common_prefix(Symbols a, Symbols b) {
  return static_cast<uint64_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                               a.begin());
}

uint64_t common_suffix(Symbols a, Symbols b) {
  return static_cast<uint64_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first -
                               a.rbegin());
}

double jaro_similarity(Symbols a, Symbols b) {
  if (a.empty() && b.empty()) return 1.0;
  if (a.empty() || b.empty()) return 0.0;
  return with_masks(a, [&](const QueryMasks& masks) {
    return jaro_of(common_symbols(masks, sequence_of(b)), a.size(), b.size());
  });
}

double jaro_winkler_similarity(Symbols a, Symbols b, double prefix_weight) {
  const double jaro = jaro_similarity(a, b);
  if (jaro <= kLeastForPrefix) return jaro;
  return with_prefix(jaro, common_prefix(a, b), prefix_weight);
}

double with_prefix(double jaro, uint64_t prefix, double prefix_weight) {
  const auto counted = static_cast<double>(counted_prefix(prefix));
  return std::min(1.0, jaro + counted * prefix_weight * (1.0 - jaro));
}

}  // namespace hoist::match
