// Results as C has them. No exception leaves the library.
#pragma once

#include <hologram_ffi.h>

#include <limits>
#include <new>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace hoist::capi::hologram {

// Keeps the error for hologram_last_error().
hologram_status keep(const Error& error);

// Text of the caller's, from malloc(); null where there is no memory.
char* text_of(const std::string& text);

// What a call gives that fails.
template <typename T>
T nothing() {
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::quiet_NaN();
  } else {
    return T{};
  }
}

inline Error no_memory() { return fail(ErrorCode::exhausted, "Out of memory"); }

// For a handler of any exception. Its messages are so short that strings have them without memory.
inline hologram_status keep_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return keep(no_memory());
  } catch (...) {
    return keep(fail(ErrorCode::internal, "Internal error"));
  }
}

// The result of call(), a Result, as a T.
template <typename T, typename Call>
T give(const Call& call) noexcept {
  try {
    const auto result = call();
    if (result) return static_cast<T>(*result);
    keep(result.error());
  } catch (...) {
    keep_exception();
  }
  return nothing<T>();
}

template <typename Call>
char* give_text(const Call& call) noexcept {
  try {
    const Result<std::string> result = call();
    if (result) return text_of(*result);
    keep(result.error());
  } catch (...) {
    keep_exception();
  }
  return nullptr;
}

// The status of call(), a Status.
template <typename Call>
hologram_status done(const Call& call) noexcept {
  try {
    const Status status = call();
    return status ? HOLOGRAM_OK : keep(status.error());
  } catch (...) {
    return keep_exception();
  }
}

// A call that gives nothing.
template <typename Call>
void dropped(const Call& call) noexcept {
  (void)done([&]() -> Status {
    call();
    return {};
  });
}

inline Error null_text(const char* what) {
  return fail(ErrorCode::invalid_argument, std::string(what) + " is null: pass text");
}

}  // namespace hoist::capi::hologram
