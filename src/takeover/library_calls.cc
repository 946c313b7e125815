#include "takeover/library_calls.h"

#include <errno.h>
#include <fmt/core.h>

#include <cstdlib>
#include <random>

#include "base/log.h"
#include "base/option_values.h"
#include "takeover/enabled_operations.h"
#include "takeover/switched_off.h"

namespace hoist {
namespace {

std::unique_ptr<Counters> shared_counters() {
  const char* const path = environment_value(HOIST_COUNTERS_ENV);
  if (path != nullptr) {
    if (Result<std::unique_ptr<Counters>> shared = Counters::open(path)) return std::move(*shared);
  }
  return std::make_unique<Counters>();
}

}  // namespace

LibraryCalls::LibraryCalls(std::string_view operation)
    : operation_(operation),
      counters_(shared_counters()),
      rate_(verification_rate()),
      switched_off_(switched_off(operation).has_value()) {
  log_unusable_values();
}

bool LibraryCalls::passed(std::string_view reason) {
  counters_->add_passed(operation_, reason);
  return false;
}

void LibraryCalls::done(std::string_view implementation, uint64_t bytes, uint64_t nanoseconds) {
  counters_->add_call(operation_, implementation, bytes, nanoseconds);
}

bool LibraryCalls::is_drawn() const {
  if (rate_ >= 1 || rate_ <= 0) return rate_ >= 1;
  std::random_device random;
  return std::uniform_real_distribution<double>(0, 1)(random) < rate_;
}

void LibraryCalls::verified(bool same, std::string_view what) {
  passed(same ? "verify: same" : "verify: different");
  if (same || switched_off_.exchange(true)) return;
  const std::string words = fmt::format("{} ({})", program_invocation_name, what);
  log(LogLevel::error, "{}: result differs from the original's: {}", operation_, words);
  switch_off(operation_, "differed from the original: " + words);
}

void LibraryCalls::verification_left_out(std::string_view why) {
  passed(fmt::format("verify: left out ({})", why));
}

}  // namespace hoist
