// Errors of the engines as Python exceptions: classes of hoist.errors, each of which is also the
// built-in exception that a caller would expect (a corrupt file is a ValueError).
#pragma once

#include "base/result.h"

namespace hoist::python {

[[noreturn]] void raise(const Error& error);

inline void check(const Status& status) {
  if (!status) raise(status.error());
}

template <typename T>
T value(Result<T>&& result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace hoist::python
