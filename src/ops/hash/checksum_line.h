// Lines of checksum files, as `sha256sum --check` and its relatives understand them:
//
//   DIGEST  NAME        the mode character before NAME being ' ' or '*'
//   DIGEST NAME         BSD's reversed form, without a mode character
//   TAG (NAME) = DIGEST and OpenSSL's TAG(NAME)= DIGEST; BLAKE2b-LENGTH for shorter digests
//
// Blanks may stand before each; a backslash before DIGEST or TAG says that NAME is escaped. What a
// line means depends on the lines before it: the first untagged line that is valid settles whether
// the untagged lines of this run are reversed, and a program that accepts every algorithm keeps the
// one it saw last for its messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/hash/hasher.h"

namespace hoist::hash {

// Where releases of coreutils differ.
enum class Dialect {
  classic,  // up to 9.1
  modern,   // from 9.2
};

struct ChecksumLine {
  std::string name;
  DigestKind kind;
  Digest expected;  // may be shorter than `kind`: then the digest has to start with it
};

class ChecksumLineParser {
 public:
  // Without an algorithm each line must be tagged and says which one it uses. `cksum` takes a
  // length after any tag; the other programs only after BLAKE2b.
  ChecksumLineParser(std::optional<Algorithm> algorithm, bool cksum, Dialect dialect);

  // `line` comes without its newline and is neither empty nor a comment. Nothing for a line that
  // is not properly formatted. A NUL byte ends a name, as it does for the C programs.
  std::optional<ChecksumLine> parse(std::string_view line);

  // The algorithm that messages name.
  Algorithm algorithm() const { return algorithm_; }

 private:
  std::optional<ChecksumLine> parse_tagged(std::string_view rest, bool escaped);
  std::optional<ChecksumLine> parse_untagged(std::string_view rest, bool escaped);

  Algorithm algorithm_;
  bool detect_;
  bool cksum_;
  Dialect dialect_;
  size_t expected_bytes_;  // of the last tagged line, which untagged lines must have too
  std::optional<bool> reversed_;
};

}  // namespace hoist::hash
