#include "capi/status.h"

#include <algorithm>
#include <cstring>

namespace hoist::capi {
namespace {

// Plain memory: nothing has to be destroyed when a thread ends or the library is unloaded.
struct LastError {
  char message[1024];
  int number;
};
thread_local LastError last_error{};

void remember(const char* message, size_t size, int number) noexcept {
  size = std::min(size, sizeof last_error.message - 1);
  // Cut between characters.
  while (size > 0 && message[size] != '\0' && (message[size] & 0xc0) == 0x80) --size;
  std::memcpy(last_error.message, message, size);
  last_error.message[size] = '\0';
  last_error.number = number;
}

constexpr hoist_status number_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return HOIST_INVALID_ARGUMENT;
    case ErrorCode::not_found:
      return HOIST_NOT_FOUND;
    case ErrorCode::corrupt:
      return HOIST_CORRUPT;
    case ErrorCode::unsupported:
      return HOIST_UNSUPPORTED;
    case ErrorCode::unavailable:
      return HOIST_UNAVAILABLE;
    case ErrorCode::exhausted:
      return HOIST_EXHAUSTED;
    case ErrorCode::io:
      return HOIST_IO;
    case ErrorCode::cancelled:
      return HOIST_CANCELLED;
    case ErrorCode::internal:
      break;
  }
  return HOIST_INTERNAL;
}

}  // namespace

hoist_status failed(const Error& error) noexcept {
  remember(error.message.c_str(), error.message.size(), error.system_errno);
  return number_of(error.code);
}

hoist_status failed(hoist_status status, const char* message) noexcept {
  remember(message, std::strlen(message), 0);
  return status;
}

Status needed(const void* pointer, const char* what) {
  if (pointer != nullptr) return {};
  return fail(ErrorCode::invalid_argument, std::string(what) + ": a null pointer");
}

}  // namespace hoist::capi

extern "C" {

const char* hoist_status_name(hoist_status status) {
  switch (status) {
    case HOIST_OK:
      return "ok";
    case HOIST_INVALID_ARGUMENT:
      return "invalid argument";
    case HOIST_NOT_FOUND:
      return "not found";
    case HOIST_CORRUPT:
      return "corrupt";
    case HOIST_UNSUPPORTED:
      return "unsupported";
    case HOIST_UNAVAILABLE:
      return "unavailable";
    case HOIST_EXHAUSTED:
      return "exhausted";
    case HOIST_IO:
      return "input or output failed";
    case HOIST_CANCELLED:
      return "cancelled";
    case HOIST_INTERNAL:
      return "internal";
  }
  return "unknown";
}

const char* hoist_error_message(void) { return hoist::capi::last_error.message; }
int hoist_error_errno(void) { return hoist::capi::last_error.number; }

}  // extern "C"
