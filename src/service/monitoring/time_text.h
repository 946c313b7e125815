// Times as the service writes them.
#pragma once

#include <chrono>
#include <string>

namespace hoist::service {

// "2026-11-28T08:15:30.123456+00:00", as Python's datetime.isoformat() of UTC.
std::string iso_time(std::chrono::system_clock::time_point time);
// The same with "Z" for UTC.
std::string iso_time_z(std::chrono::system_clock::time_point time);
// Seconds since 1970, with fractions.
double unix_time(std::chrono::system_clock::time_point time);

}  // namespace hoist::service
