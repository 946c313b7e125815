// Structs that begin with their size: a caller's may be older (shorter) or newer (longer) than
// ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/output_file.h"

namespace hoist::capi {

// Far above any version's: a size above it was never set.
inline constexpr size_t kMostStructBytes = 4096;

// The size that the struct says; `invalid_argument` where that cannot be one.
Result<size_t> struct_size(const void* given, const char* name);

// What a caller wishes: what it did not give is zero, what we do not know must be.
template <typename Options>
Result<Options> options_of(const Options* given, const char* name) {
  Options own{};
  if (given == nullptr) return own;
  const Result<size_t> size = struct_size(given, name);
  if (!size) return size.error();
  const char* const bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof own; i < *size; ++i) {
    if (bytes[i] == 0) continue;
    return fail(ErrorCode::unsupported,
                std::string(name) + ": a wish that only a newer version of Hoist knows");
  }
  std::memcpy(&own, bytes, std::min(sizeof own, *size));
  return own;
}

// `replace`: 1 where the caller wants a file that exists to be replaced.
inline OutputRule output_rule(int replace) {
  return {.replace = replace != 0 ? Replace::any : Replace::never,
          .mend = "set `replace` in the options, or choose another name"};
}

// Fills the caller's struct, whose size was checked: `own.size` does not matter.
template <typename Answer>
void give(Answer own, size_t size, Answer* into) {
  own.size = size;
  char* const bytes = reinterpret_cast<char*>(into);
  std::memcpy(bytes, &own, std::min(sizeof own, size));
  if (size > sizeof own) std::memset(bytes + sizeof own, 0, size - sizeof own);
}

}  // namespace hoist::capi
