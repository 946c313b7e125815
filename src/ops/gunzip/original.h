// Handing the rest of the work to the original program, when something turns up that only it reads.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ops/gunzip/input_buffer.h"
#include "takeover/takeover.h"

namespace hoist::gunzip {

inline constexpr char kOperation[] = "gunzip";

// Whether the first bytes that can be had from `fd`, without taking them, are gzip's magic number.
// False also where that cannot be known: neither a regular file nor a pipe.
bool begins_with_gzip_magic(int fd, const struct stat& info);

// Exit status of the original run on `arguments`; a signal that ends it ends us. Its output lacks
// the first `already_written` bytes.
int run_original(const Takeover& takeover, const std::vector<std::string>& arguments,
                 const char* reason, uint64_t already_written);

// The same where the input is a pipe that has been read from: the original gets an empty gzip
// member, then what is left in `rest` from its next byte on, as its standard input.
int run_original_on_rest(const Takeover& takeover, const std::vector<std::string>& arguments,
                         const char* reason, const std::string& first, InputBuffer& rest);

}  // namespace hoist::gunzip
