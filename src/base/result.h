// Errors as values. A function that can fail returns Result<T>; no exception crosses a public
// boundary. An Error names the thing, the place and, where one is known, the mend:
//
//   Result<UniqueFd> fd = open_file(path, O_RDONLY);
//   if (!fd) return tl::unexpected(fd.error());
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hoist {

enum class ErrorCode {
  invalid_argument,
  not_found,
  corrupt,
  unsupported,
  unavailable,
  exhausted,
  io,
  cancelled,
  internal,
};

std::string_view name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  int system_errno = 0;  // errno behind an io error, 0 where there is none
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, int system_errno = 0) {
  return tl::unexpected(Error{code, std::move(message), system_errno});
}

}  // namespace hoist
