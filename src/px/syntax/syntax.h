// The syntax tree of a px file: what is written where, before names and types mean anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators.h"
#include "px/text/keywords.h"
#include "px/text/source.h"

namespace hoist::px::syntax {

struct Name {
  std::string text;
  Span span;
};

// "f32", "u8[]"; of the ancestor "int*".
struct TypeName {
  std::string scalar;
  bool is_array = false;
  Span span;
};

enum class ExpressionKind : uint8_t {
  integer,  // text: as written
  real,
  boolean,  // text: true or false
  name,
  index,   // text[operands[0]]
  vector,  // text[operands[0] BY operands[1]]
  call,    // text(operands…)
  unary,
  binary,
  compare,
};

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;

struct Expression {
  // Deeper trees are refused, so that recursion over them is bounded.
  static constexpr int kMostDepth = 256;

  ExpressionKind kind = ExpressionKind::name;
  Span span;
  std::string text = {};
  std::vector<ExpressionPointer> operands = {};
  ir::UnaryOperator unary = {};
  ir::BinaryOperator binary = {};
  ir::Comparison comparison = {};
  bool is_in_parentheses = false;
  int depth = 1;
};

enum class StatementKind : uint8_t {
  word,    // one that `word` names, with what that word takes
  assign,  // operands[0] = operands[1]
};

// One statement. What a word takes:
//   LET name type = value            results, type (none: the value's), operands
//   LET name type[n]                 results, type, operands: n
//   LOAD, ADD, …, WARP_… → name      operands, results; `option` is the operator of a reduction
//   STORE value → place              operands: value, place
//   THREAD_ID → x, y, z              results
//   FOR i FROM a TO b STEP s:        results: i; operands: a, b and, where given, s; body
//   IF c: … ELSE: …                  operands, body, otherwise
//   GPU_LAUNCH k BLOCKS … THREADS …  option: k; operands; blocks and threads: how many of them each
//   … WITH parameter = value, …      results: the parameters; their values end the operands
//   GPU_ALLOC name type count        results, type, operands
//   GPU_COPY_TO_GPU a → b count      results: a, b; operands
//   GPU_TARGET, GPU_SELECT           option; operands
struct Statement {
  StatementKind kind = StatementKind::word;
  Word word = Word::LET;
  Span span;  // from the first word to the end of its line
  Span word_span;
  std::vector<ExpressionPointer> operands = {};
  std::vector<Name> results = {};
  std::optional<TypeName> type = {};
  Name option = {};
  size_t blocks = 0;
  size_t threads = 0;
  std::vector<Statement> body = {};
  std::vector<Statement> otherwise = {};
};

enum class Direction : uint8_t { in, out, inout };

struct Parameter {
  Name name;
  Direction direction = Direction::inout;
  bool has_direction = false;
  TypeName type;
};

struct SharedArray {
  Name name;
  TypeName type;
  ExpressionPointer count;
};

struct Kernel {
  Name name;
  std::vector<Parameter> parameters;
  std::vector<SharedArray> shared;
  std::vector<Statement> body;
};

struct Function {
  Name name;
  std::vector<Parameter> parameters;
  TypeName result;
  std::vector<Statement> body;
};

struct Constant {
  Name name;
  TypeName type;
  ExpressionPointer count;  // none: one value
  std::vector<ExpressionPointer> values;
};

struct File {
  std::vector<Constant> constants;
  std::vector<Function> functions;
  std::vector<Kernel> kernels;
  std::vector<Statement> host;  // GPU_LAUNCH and the like, in their order
};

// The tree as text, a node a line, indented: what `hoist px emit --stage ast` prints.
std::string print(const File& file);
// An expression as it would be written, with all parentheses.
std::string print(const Expression& expression);

}  // namespace hoist::px::syntax
