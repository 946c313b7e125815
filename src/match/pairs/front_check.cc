#include "match/pairs/front_check.h"

#include <algorithm>
#include <cstring>

namespace hoist::match {
namespace {

// Unrelated sequences of 26 letters: in how many symbols there is one that has no equal within so
// many diagonals, or a pair of them; 256 times that, and a quarter more.
template <size_t kShifts>
constexpr std::array<std::array<uint32_t, kShifts + 1>, 2> symbols_of_unmatched() {
  std::array<std::array<uint32_t, kShifts + 1>, 2> symbols{};
  double alone = 1.0;
  double pair = 0.5;
  for (size_t shifts = 0; shifts <= kShifts; ++shifts) {
    symbols[0][shifts] = static_cast<uint32_t>(std::min(1e6, 1.25 * 256 / alone));
    symbols[1][shifts] = static_cast<uint32_t>(1.25 * 256 / pair);
    alone *= 25.0 / 26.0;
    pair *= 675.0 / 676.0;
  }
  return symbols;
}

}  // namespace

FrontCheck::Plan FrontCheck::plan(PairCount count, uint32_t m, uint32_t n, uint64_t most) {
  static constexpr auto kSymbols = symbols_of_unmatched<kMostShifts>();
  const EditBand band(m, n, most);
  const auto shifts = static_cast<uint64_t>(band.last - band.first + 1);
  constexpr int64_t kFurthest = kMargin;
  if (shifts > kMostShifts || band.first < -kFurthest || band.last > kFurthest) return {};
  // Symbols are inserted where they are not substituted; a pair is changed by any edit within it.
  const uint64_t alone = count == PairCount::lcs ? (most + n - m) / 2 : most;
  const uint64_t by_symbol = (alone + 4) * kSymbols[0][shifts] / 256;
  const uint64_t by_pair = (most + 4) * kSymbols[1][shifts] / 256;
  const uint64_t expected = std::min(by_symbol, by_pair);
  const uint64_t symbols = (expected + kUnmatchedStep - 1) / kUnmatchedStep * kUnmatchedStep;
  const auto first = static_cast<int32_t>(band.first);
  if (symbols > std::min(n, kMostSymbols)) {
    const bool is_for_all = (alone + 1) * kSymbols[0][shifts] / 256 <= n;
    return {0,         static_cast<uint32_t>(shifts), first, static_cast<uint32_t>(alone), false,
            is_for_all};
  }
  const bool has_pairs = by_pair < by_symbol;
  return {static_cast<uint32_t>(symbols),
          static_cast<uint32_t>(shifts),
          first,
          static_cast<uint32_t>(has_pairs ? most : alone),
          has_pairs,
          false};
}

void FrontCheck::low_bytes(const Sequence& sequence, size_t begin, size_t end, uint8_t* out) {
  if (sequence.width == 1) {
    std::memcpy(out + begin, static_cast<const uint8_t*>(sequence.symbols) + begin, end - begin);
    return;
  }
  with_symbols(sequence, [&](const auto symbols) {
    for (size_t i = begin; i < end; ++i) out[i] = static_cast<uint8_t>(symbols[i]);
  });
}

void FrontCheck::take(const Sequence& a, uint32_t size) {
  if (of_ != a.symbols) {
    of_ = a.symbols;
    known_ = 0;
  }
  low_bytes(a, known_, size, rows_.data() + kMargin);
  known_ = size;
}

bool FrontCheck::are_beyond(const Sequence& a, const Sequence& b, const Plan& plan) {
  const int64_t end = int64_t{plan.symbols} + plan.first + plan.shifts;
  const auto rows = static_cast<uint32_t>(std::min<int64_t>(a.length, end));
  if (of_ != a.symbols || known_ < rows) take(a, rows);
  const auto* columns = static_cast<const uint8_t*>(b.symbols);
  if (b.width != 1) {
    low_bytes(b, 0, plan.symbols, columns_.data());
    columns = columns_.data();
  }
  const uint8_t* const first = rows_.data() + (kMargin + plan.first);
  UnmatchedKernel* const kernel = kernels_.unmatched[plan.has_pairs];
  return kernel(columns, plan.symbols, first, plan.shifts, plan.most) > plan.most;
}

}  // namespace hoist::match
