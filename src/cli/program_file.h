// Recognising a program's file, as the preload library recognises the running program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

struct KnownBuild {
  std::string program;
  std::string package;
  std::string version;
  bool learnt = false;  // from the user's table, not compiled in
};

// The GNU build-id of an ELF file in lower-case hex. `unsupported` for what is no 64-bit ELF file
// or has none.
Result<std::string> read_build_id(const std::string& path);

std::optional<KnownBuild> find_build(const std::string& build_id);

// The operation ("sort", "hash", "gunzip") that replaces `program`; empty where none does.
std::string_view operation_of(const std::string& program);

// Which program `path` says it is, by what `path --version` prints. `unsupported` where it is none
// that an engine replaces.
Result<KnownBuild> ask_version(const std::string& path);

// Adds a build to the user's table, or replaces the row of the same build-id.
Status learn_build(const std::string& build_id, const KnownBuild& build);

}  // namespace hoist::cli
