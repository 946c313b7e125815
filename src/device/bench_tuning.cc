#include "device/bench_tuning.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

namespace hoist::device {
namespace {

constexpr uint64_t kKibibyte = uint64_t{1} << 10;
constexpr uint64_t kMany = 1024;
constexpr uint64_t kLarge = uint64_t{1} << 40;

struct Knob {
  std::string_view name;
  uint64_t least;
  uint64_t most;
  void (*set)(TransferTuning& tuning, uint64_t value);
};

constexpr Knob kKnobs[] = {
    {"threads", 1, kMany, [](auto& tuning, uint64_t n) { tuning.threads = static_cast<int>(n); }},
    {"piece", 1, kLarge, [](auto& tuning, uint64_t n) { tuning.piece = n * kKibibyte; }},
    {"chunk", 1, kLarge, [](auto& tuning, uint64_t n) { tuning.largest_chunk = n * kKibibyte; }},
    {"chunks", 1, kMany, [](auto& tuning, uint64_t n) { tuning.chunks = static_cast<int>(n); }},
    {"ring", 1, kLarge, [](auto& tuning, uint64_t n) { tuning.ring = n * kKibibyte; }},
    {"look", 0, kLarge,
     [](auto& tuning, uint64_t n) {
       tuning.look = std::chrono::microseconds(static_cast<int64_t>(n));
     }},
    {"slot", 0, kLarge, [](auto& tuning, uint64_t n) { tuning.through_slot = n * kKibibyte; }},
    {"copy_kernel", 0, kLarge,
     [](auto& tuning, uint64_t n) { tuning.copy_kernel_limit = n * kKibibyte; }},
    {"direct", 0, kLarge, [](auto& tuning, uint64_t n) { tuning.direct = n * kKibibyte; }},
    {"demoted", 0, kLarge, [](auto& tuning, uint64_t n) { tuning.demoted = n * kKibibyte; }},
};

bool set_knob(TransferTuning& tuning, std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const auto* const knob = std::ranges::find(kKnobs, word.substr(0, equals), &Knob::name);
  uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + equals + 1, end, value);
  if (knob == std::end(kKnobs) || error != std::errc() || stop != end) return false;
  if (value < knob->least || value > knob->most) return false;
  knob->set(tuning, value);
  return true;
}

}  // namespace

Result<TransferTuning> parse_tuning(const std::string& text) {
  TransferTuning tuning;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (set_knob(tuning, word)) continue;
    std::string names;
    for (const Knob& knob : kKnobs) names += fmt::format(" {}=N", knob.name);
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} is no tuning of transfers: any of{} (KiB, microseconds)", word, names));
  }
  return tuning;
}

Result<TransferTuning> bench_tuning() {
  const char* const wanted = std::getenv("HOIST_BENCH_TRANSFER");
  return parse_tuning(wanted != nullptr ? wanted : "");
}

}  // namespace hoist::device
