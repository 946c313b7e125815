#include "ir/operators.h"

#include <array>
#include <cstddef>

namespace hoist::ir {
namespace {

enum class Domain : uint8_t { numbers, floats, integers };

struct BuiltinRow {
  std::string_view name;
  int arity;
  Domain domain;
};

constexpr std::array<BuiltinRow, kBuiltins> kRows = {{
    {"abs", 1, Domain::numbers},  {"sqrt", 1, Domain::floats},       {"fma", 3, Domain::floats},
    {"floor", 1, Domain::floats}, {"ceil", 1, Domain::floats},       {"trunc", 1, Domain::floats},
    {"round", 1, Domain::floats}, {"popcount", 1, Domain::integers}, {"clz", 1, Domain::integers},
    {"ctz", 1, Domain::integers}, {"mulhi", 2, Domain::integers},    {"isnan", 1, Domain::floats},
    {"rsqrt", 1, Domain::floats}, {"exp", 1, Domain::floats},        {"exp2", 1, Domain::floats},
    {"log", 1, Domain::floats},   {"log2", 1, Domain::floats},       {"log10", 1, Domain::floats},
    {"sin", 1, Domain::floats},   {"cos", 1, Domain::floats},        {"tan", 1, Domain::floats},
    {"tanh", 1, Domain::floats},  {"erf", 1, Domain::floats},        {"pow", 2, Domain::floats},
}};

const BuiltinRow& row(Builtin builtin) { return kRows[static_cast<size_t>(builtin)]; }

template <typename Word, size_t count>
std::string_view word(const std::array<std::string_view, count>& words, Word value) {
  return words[static_cast<size_t>(value)];
}

}  // namespace

std::string_view name(UnaryOperator op) { return op == UnaryOperator::negate ? "-" : "~"; }

std::string_view name(BinaryOperator op) {
  constexpr std::array<std::string_view, 14> kWords = {"+", "-", "*", "/",  "%",  "min",  "max",
                                                       "&", "|", "^", "<<", ">>", "rotl", "rotr"};
  return word(kWords, op);
}

std::string_view name(Comparison comparison) {
  constexpr std::array<std::string_view, 6> kWords = {"==", "!=", "<", "<=", ">", ">="};
  return word(kWords, comparison);
}

std::string_view name(Builtin builtin) { return row(builtin).name; }

std::string_view name(Id id) {
  constexpr std::array<std::string_view, 6> kWords = {"thread_id",  "block_id",  "local_id",
                                                      "block_size", "grid_size", "lane_id"};
  return word(kWords, id);
}

std::string_view name(AtomicOperator op) {
  constexpr std::array<std::string_view, 8> kWords = {"add", "min", "max",      "and",
                                                      "or",  "xor", "exchange", "compare_exchange"};
  return word(kWords, op);
}

std::string_view name(ShuffleKind kind) {
  constexpr std::array<std::string_view, 4> kWords = {"index", "up", "down", "xor"};
  return word(kWords, kind);
}

std::string_view name(ReduceOperator op) {
  constexpr std::array<std::string_view, 6> kWords = {"add", "min", "max", "and", "or", "xor"};
  return word(kWords, op);
}

std::optional<Builtin> find_builtin(std::string_view name) {
  for (int i = 0; i < kBuiltins; ++i) {
    if (kRows[static_cast<size_t>(i)].name == name) return static_cast<Builtin>(i);
  }
  return std::nullopt;
}

int arity(Builtin builtin) { return row(builtin).arity; }

bool is_exact(Builtin builtin) { return builtin <= Builtin::is_nan; }

bool takes(Builtin builtin, Scalar scalar) {
  switch (row(builtin).domain) {
    case Domain::numbers:
      return scalar != Scalar::boolean;
    case Domain::floats:
      return is_float(scalar);
    case Domain::integers:
      return is_integer(scalar);
  }
  return false;
}

BinaryOperator binary_operator(ReduceOperator op) {
  constexpr std::array<BinaryOperator, 6> kOperators = {
      BinaryOperator::add,     BinaryOperator::minimum, BinaryOperator::maximum,
      BinaryOperator::bit_and, BinaryOperator::bit_or,  BinaryOperator::bit_xor};
  return kOperators[static_cast<size_t>(op)];
}

}  // namespace hoist::ir
