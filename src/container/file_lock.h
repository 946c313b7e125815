// One file has one writer: it has flock(LOCK_EX) on it. Readers take no lock, but for those who
// look for a moment whether there is a writer.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace hoist::container {

// Locks an open file until it is closed. `unavailable` where a writer has it, with its process;
// whoever only looks is waited for.
Status lock_for_writing(int fd, const std::string& path);

// Whether a writer has the open file.
bool has_writer(int fd);

// The file of that name, open and locked, so that nobody appends to what is going to be replaced.
// None where there is no such file, or it cannot be locked by this user. `unavailable` as above.
Result<UniqueFd> lock_replaced(const std::string& path);

// Whether the name leads to the open file.
bool is_named(int fd, const std::string& path);

}  // namespace hoist::container
