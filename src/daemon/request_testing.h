// For tests: requests as a client of its own making sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <vector>

#include "device/remote/connection.h"

namespace hoist::daemon {

inline std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline hoist_request request_with(uint32_t operation, std::initializer_list<hoist_range> ranges,
                                  std::initializer_list<uint64_t> arguments) {
  hoist_request request = {};
  request.operation = operation;
  for (const hoist_range& range : ranges) request.ranges[request.range_count++] = range;
  for (const uint64_t argument : arguments) request.arguments[request.argument_count++] = argument;
  return request;
}

// The error code of a request, or nothing.
inline std::optional<ErrorCode> failure_of(device::remote::Connection& connection,
                                           const hoist_request& request) {
  const auto ticket = connection.submit(0, request);
  if (!ticket) return ticket.error().code;
  const auto answer = connection.wait(*ticket);
  if (!answer) return answer.error().code;
  return std::nullopt;
}

}  // namespace hoist::daemon
