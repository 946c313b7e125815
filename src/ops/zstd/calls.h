// What both engines of this folder share.
#pragma once

#include "takeover/library_calls.h"

namespace hoist::zstd {

// Output of decompression, or input of compression, from which on several threads pay.
constexpr size_t kWorthThreads = size_t{1} << 20;

constexpr const char* kSpecialContext = "a context with a dictionary or settings";

inline LibraryCalls& calls() {
  static LibraryCalls* const calls = new LibraryCalls("zstd");  // static destructors may call
  return *calls;
}

}  // namespace hoist::zstd
