#include "service/monitoring/time_text.h"

#include <fmt/core.h>

#include <ctime>

namespace hoist::service {

std::string iso_time(std::chrono::system_clock::time_point time) {
  using std::chrono::microseconds;
  const int64_t all = std::chrono::floor<microseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(all / 1'000'000);
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}+00:00", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     all % 1'000'000);
}

std::string iso_time_z(std::chrono::system_clock::time_point time) {
  const std::string text = iso_time(time);
  return text.substr(0, text.find('+')) + "Z";
}

double unix_time(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace hoist::service
