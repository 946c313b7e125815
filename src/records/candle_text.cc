#include "records/candle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

namespace hoist::records {
namespace {

const char* const kNames[kMostCandleSymbols] = {"BTC", "ETH",  "SOL", "XRP",   "DOGE",
                                                "ADA", "AVAX", "DOT", "MATIC", "LINK"};

}  // namespace

std::string candle_text(uint64_t first, uint64_t end, size_t symbols) {
  std::mt19937_64 random(first + 1);
  std::normal_distribution<double> normal;
  std::vector<int64_t> last(symbols);
  for (size_t s = 0; s < symbols; ++s) {
    last[s] = std::llround(11739131 / std::pow(1.8, s) * std::exp(0.02 * normal(random)));
  }
  std::string text;
  text.reserve((end - first) * 150);
  const auto fixed = [&](int64_t value, int64_t unit, int digits) {
    fmt::format_to(std::back_inserter(text), "{}.{:0{}}", value / unit, value % unit, digits);
  };
  uint64_t missing = first / symbols / 1000;
  for (uint64_t row = first; row < end; ++row) {
    const size_t s = row % symbols;
    if (s == 0 && random() % 1000 == 0) ++missing;
    int64_t open = last[s];
    if (random() % 10 == 0) {
      open = std::max<int64_t>(1, open + static_cast<int64_t>(random() % 41) - 20);
    }
    int64_t close = open;
    if (random() % 50 != 0) {
      close = std::llround(static_cast<double>(open) * std::exp(4e-4 * normal(random)));
      close = std::max<int64_t>(1, close);
    }
    last[s] = close;
    fmt::format_to(std::back_inserter(text),
                   "{{\"symbol\": \"{}-USD\", \"timestamp\": {}, \"open\": \"", kNames[s],
                   1755392220 + 60 * (row / symbols + missing));
    fixed(open, 100, 2);
    text += "\", \"close\": \"";
    fixed(close, 100, 2);
    text += "\", \"volume\": \"";
    fixed(std::llround(std::exp(std::log(0.6) + normal(random)) * 1e8), 100000000, 8);
    text += "\", \"granularity\": 60}\n";
  }
  return text;
}

}  // namespace hoist::records
