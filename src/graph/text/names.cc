#include "graph/text/names.h"

#include <algorithm>
#include <cctype>

#include "graph/text/program_text.h"

namespace hoist::graph::text {

using program::DType;
using program::Extents;
using program::Op;

std::string type_name(DType dtype) {
  std::string name(array::properties(dtype).name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::optional<DType> find_type(std::string_view name) {
  for (const array::DTypeProperties& type : array::all_dtypes()) {
    if (type_name(type.dtype) == name) return type.dtype;
  }
  return std::nullopt;
}

std::string list_text(const Extents& numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  }
  return text + "]";
}

std::string type_text(DType dtype, const Extents& shape) {
  return type_name(dtype) + (shape.empty() ? "" : list_text(shape));
}

std::optional<Op> find_op(std::string_view name) {
  for (size_t i = 0; i < program::kOps; ++i) {
    const Op op = static_cast<Op>(i);
    if (program::properties(op).name == name) return op;
  }
  return std::nullopt;
}

Attributes attributes_of(Op op) {
  if (program::is_reduction(op)) return {"over", "", true};
  switch (op) {
    case Op::permute:
      return {"by", "", true};
    case Op::slice:
      return {"from", "step", true};
    case Op::concatenate:
    case Op::cumulative_sum:
    case Op::take_along:
      return {"along", "", false};
    default:
      return {};
  }
}

bool is_name(std::string_view word) {
  const auto may_begin = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !word.empty() && may_begin(word[0]) && std::all_of(word.begin(), word.end(), [&](char c) {
    return may_begin(c) || (c >= '0' && c <= '9') || c == '.';
  });
}

}  // namespace hoist::graph::text
