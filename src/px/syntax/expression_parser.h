// Expressions, with C's precedence, and the operands of statements.
#pragma once

#include "px/syntax/syntax.h"
#include "px/syntax/token_reader.h"

namespace hoist::px {

// Whole expressions: `i * 4 + k`. Null where one is wrong, which has been reported then.
syntax::ExpressionPointer parse_expression(TokenReader& tokens);
// What a statement of several operands takes: a name, a number, a place, a call, or an expression
// in parentheses. A call's parenthesis touches its name: `ADD a (b)` has two operands.
syntax::ExpressionPointer parse_operand(TokenReader& tokens);

}  // namespace hoist::px
