// The command lines of md5sum, sha*sum, b2sum and cksum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/hash/checksum_line.h"
#include "ops/hash/hasher.h"
#include "takeover/takeover.h"

namespace hoist::hash {

struct Options {
  std::string program;  // base name
  Dialect dialect = Dialect::modern;
  // What to compute; in check mode nothing where each line must tell.
  std::optional<Algorithm> algorithm;
  size_t digest_bytes = 0;

  bool check = false;
  bool tagged = false;  // "TAG (NAME) = DIGEST"
  bool binary = false;  // '*' before the name
  bool zero = false;    // lines end with NUL, names are not escaped
  bool ignore_missing = false;
  bool quiet = false;
  bool status_only = false;
  bool strict = false;
  bool warn = false;

  bool has_files = false;          // named on the command line
  std::vector<std::string> files;  // "-" alone where none is named
};

// An error's message is the reason why the original should run instead: it words usage errors and
// help, and does what is too rare to do here.
Result<Options> parse_options(const Takeover& takeover);

}  // namespace hoist::hash
