// How results leave C++: as a hoist_status, with the message in the calling thread's memory.
#pragma once

#include <exception>
#include <new>

#include "base/result.h"
#include "hoist/hoist.h"

namespace hoist::capi {

// Remembers the error for hoist_error_message() and gives its number. Never throws.
hoist_status failed(const Error& error) noexcept;
hoist_status failed(hoist_status status, const char* message) noexcept;

// Runs `body`, which gives a Status; nothing that it throws goes any further.
template <typename Body>
hoist_status guarded(const Body& body) noexcept {
  try {
    const Status done = body();
    return done ? HOIST_OK : failed(done.error());
  } catch (const std::bad_alloc&) {
    return failed(HOIST_EXHAUSTED, "not enough memory");
  } catch (const std::exception& error) {
    return failed(HOIST_INTERNAL, error.what());
  } catch (...) {
    return failed(HOIST_INTERNAL, "an exception of an unknown kind");
  }
}

// `invalid_argument`, naming it, where a pointer is null.
Status needed(const void* pointer, const char* what);

}  // namespace hoist::capi
