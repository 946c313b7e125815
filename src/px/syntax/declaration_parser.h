// Kernels, functions, constants, and the names and types that they declare.
#pragma once

#include <optional>

#include "px/syntax/syntax.h"
#include "px/syntax/token_reader.h"

namespace hoist::px {

// Each begins at its first word and ends behind its last line. None where the declaration itself is
// wrong; what is wrong inside is reported, too.
std::optional<syntax::Kernel> parse_kernel(TokenReader& tokens);
std::optional<syntax::Function> parse_function(TokenReader& tokens);
std::optional<syntax::Constant> parse_constant(TokenReader& tokens);

// None where there is no name, or one that nothing may be called by: a word of the language.
std::optional<syntax::Name> parse_new_name(TokenReader& tokens, std::string_view form);
// "f32", "u8[]", "int*". `form` is how the statement is written.
std::optional<syntax::TypeName> parse_type(TokenReader& tokens, std::string_view form);
// Whether the line ends here; the rest of one that does not is reported. Ends behind the line.
bool end_statement(TokenReader& tokens, std::string_view form);

}  // namespace hoist::px
