#include "capi/hologram/answer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hoist::capi::hologram {
namespace {

struct LastError {
  hologram_status status = HOLOGRAM_OK;
  char message[1024] = "";
};
constinit thread_local LastError last;

hologram_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return HOLOGRAM_INVALID_ARGUMENT;
    case ErrorCode::not_found:
      return HOLOGRAM_INVALID_HANDLE;
    case ErrorCode::corrupt:
      return HOLOGRAM_INVALID_JSON;
    case ErrorCode::exhausted:
      return HOLOGRAM_EXHAUSTED;
    default:
      return HOLOGRAM_INTERNAL;
  }
}

}  // namespace

hologram_status keep(const Error& error) {
  last.status = status_of(error.code);
  const size_t length = std::min(error.message.size(), sizeof(last.message) - 1);
  std::memcpy(last.message, error.message.data(), length);
  last.message[length] = '\0';
  return last.status;
}

char* text_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) {
    keep(no_memory());
    return nullptr;
  }
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace hoist::capi::hologram

extern "C" {

hologram_status hologram_last_status(void) { return hoist::capi::hologram::last.status; }

const char* hologram_last_error(void) { return hoist::capi::hologram::last.message; }

void hologram_clear_error(void) {
  hoist::capi::hologram::last.status = HOLOGRAM_OK;
  hoist::capi::hologram::last.message[0] = '\0';
}

void hologram_string_free(char* text) { std::free(text); }
}
