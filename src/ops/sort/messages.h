// How GNU sort words what it prints: file names quoted for the shell where they need it, texts
// translated where LC_MESSAGES has a coreutils catalogue.
//
// An Error of this folder holds what GNU sort prints after "sort: "; it may hold several lines, of
// which each gets that prefix (a failed write is followed by "write error").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::sort {

// `name` itself where a shell would read it as one plain word, else quoted as a shell would take
// it: 'a b', "it's", 'a'$'\n''b'. Bytes that LC_CTYPE cannot print become octal escapes.
std::string quote_name(std::string_view name);
// The same, quoted in any case.
std::string always_quote_name(std::string_view name);

// The catalogue's translation of a message of coreutils.
const char* translate(const char* message);

// The translation with `argument` in the place of its "%s".
std::string translate(const char* message, std::string_view argument);

// "WHAT: NAME: strerror(errno_value)", WHAT translated: io_error("read failed", "f", EISDIR).
Error io_error(const char* what, std::string_view name, int errno_value);

// Prints the error on standard error, each line after "PROGRAM: ".
void report(std::string_view program, const Error& error);

}  // namespace hoist::sort
