// Text that goes over to the caller, who frees it with hoist_text_free().
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace hoist::capi {

// May throw std::bad_alloc.
inline char* text_of(std::string_view text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace hoist::capi
