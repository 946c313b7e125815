#include "ops/aes/accounting.h"

#include <fmt/core.h>
#include <sys/auxv.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>

#include "base/call_filter.h"
#include "base/counters.h"
#include "base/log.h"
#include "base/option_values.h"
#include "takeover/enabled_operations.h"
#include "takeover/switched_off.h"

namespace hoist::aes {
namespace {

constexpr std::string_view kOperation = "aes";

std::atomic<bool> differed = false;

// A program with more rights than its caller writes no files that the caller's environment names.
bool may_write_files() { return ::getauxval(AT_SECURE) == 0; }

bool is_counting() {
  static const bool counting = [] {
    const char* const path = std::getenv(HOIST_COUNTERS_ENV);
    return path != nullptr && path[0] != '\0' && may_write_files();
  }();
  return counting;
}

uint64_t now() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Reports are made where there is memory for them; no exception may reach the program.
template <typename Report>
void if_memory(Report report) {
  try {
    report();
  } catch (...) {
  }
}

// SplitMix64's output function (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

bool is_enabled() {
  static const bool enabled = !hoist_is_off() && operation_allowed(kOperation) &&
                              !switched_off(kOperation) && hoist_call_filter() != HOIST_OWN_FILTER;
  return enabled && !differed.load(std::memory_order_relaxed);
}

void count_call(Cores cores, size_t bytes, uint64_t nanoseconds) {
  const char* const implementation = cores == Cores::several ? "cpu-all" : "cpu-1";
  if_memory([&] {
    if (is_counting()) {
      Counters::process().add_call(kOperation, implementation, bytes, nanoseconds);
    }
  });
}

void count_passed(std::string_view reason) {
  if_memory([&] {
    if (is_counting()) Counters::process().add_passed(kOperation, reason);
  });
}

uint64_t now_if_counting() { return is_counting() ? now() : 0; }

bool is_drawn_for_verification() {
  static const double rate = may_write_files() ? verification_rate() : 0;
  if (rate <= 0) return false;
  static const uint64_t seed = now();
  static std::atomic<uint64_t> calls = 0;
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  const uint64_t drawn = mixed(seed + kGolden * ++calls);
  return static_cast<double>(drawn >> 11) * 0x1p-53 < rate;
}

void report_verified(bool same, std::string_view algorithm) {
  count_passed(same ? "verify: same" : "verify: different");
  if (same || differed.exchange(true)) return;
  if_memory([&] {
    log(LogLevel::error, "aes: {} differs from the default provider's result", algorithm);
    switch_off(kOperation, fmt::format("differed from the default provider: {}", algorithm));
  });
}

}  // namespace hoist::aes
