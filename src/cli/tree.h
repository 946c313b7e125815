// Where the parts of the installed tree are, found from the running program, which is
// PREFIX/libexec/hoist/hoist-command-line: PREFIX/bin/hoist, PREFIX/lib/libhoist_preload.so,
// PREFIX/libexec/hoist/hoist-OPERATION. The build tree has the same layout, and either may be
// moved.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

std::string tree_prefix();
std::string engine_path(std::string_view operation);
std::string preload_library();
// The one that takes memcpy(), on request.
// The further ones: libhoist_preload_NAME.so.
std::string preload_library(std::string_view name);
std::string openssl_provider();
// lib/libhoist_OPERATION.so, the engine for calls of a library.
std::string call_engine(std::string_view operation);

// What LD_PRELOAD must hold for such a library. `unavailable` where it is missing.
//
// PREFIX/lib/hoist/$LIB/NAME where the dynamic linker turns $LIB into a folder that
// we have (then programs of another word size find a file of theirs), else the plain path.
// LD_PRELOAD cannot hold blanks, colons and dollars: a PREFIX with such is reached through a link
// beside the counters.
Result<std::string> preload_entry(const std::string& library = preload_library());

}  // namespace hoist::cli
