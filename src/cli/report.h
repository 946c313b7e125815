// How the commands tell that something went wrong.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hoist::cli {

// Exit statuses of every command; `hoist run` adds those of the program that it runs. A file, an
// index or a profile that is missing or damaged is a failure; a capability is what the machine or
// the installation would have to have: a device, an engine, a format that this version reads.
enum ExitStatus { kDone = 0, kFailed = 1, kUsage = 2, kMissingCapability = 3 };

// Writes to standard error. Where that is closed or broken the text is lost, and nothing else: it
// must not change the status of a program that ran.
void print_error(std::string_view text);

// Prints "hoist: error: MESSAGE" and gives the exit status that the error's code stands for.
int report(const Error& error);

// "hoist: warning: WHAT", unless HOIST_LOG=error.
void warn(std::string_view what);
// Warns of options in the environment whose values mean nothing (base/option_values.h).
void warn_of_unusable_values();

}  // namespace hoist::cli
