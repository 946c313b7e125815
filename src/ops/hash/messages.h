// Messages in the user's language. Setting the locale takes longer than hashing a small file, so it
// waits until something depends on it. Not for several threads at once.
#pragma once

#include <cstdint>
#include <string>

namespace hoist::hash {

// Sets the locale, once.
void use_locale();

// From the catalogue of coreutils.
const char* translate(const char* message);
const char* translate(const char* singular, const char* plural, uint64_t count);

// snprintf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace hoist::hash
