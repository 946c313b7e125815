#include "graph/text/array_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/text/names.h"

namespace hoist::graph::text {
namespace {

using program::Extents;

bool read_number(LineReader& reader, Extents& numbers) {
  const std::optional<int64_t> number = reader.integer("a number");
  if (number) numbers.push_back(*number);
  return number.has_value();
}

bool read_list(LineReader& reader, Extents& numbers) {
  constexpr const char* kMend = "numbers stand in brackets: [0,1]";
  if (!reader.expect('[', "[", kMend)) return false;
  if (reader.take_if(']')) return true;
  do {
    if (!read_number(reader, numbers)) return false;
  } while (reader.take_if(','));
  return reader.expect(']', "]", kMend);
}

}  // namespace

std::optional<Extents> read_attributes(LineReader& reader, program::Op op) {
  const Attributes words = attributes_of(op);
  Extents numbers;
  size_t of_first = 0;
  for (const std::string_view word : {words.first, words.second}) {
    if (word.empty()) break;
    const std::string_view found = reader.word();
    const px::Span span = reader.last();
    if (found != word) {
      reader.go_to(span.begin);
      reader.error_here(word, "docs/reference/graph-text.md has each operation's words");
      return std::nullopt;
    }
    if (!(words.is_list ? read_list(reader, numbers) : read_number(reader, numbers))) {
      return std::nullopt;
    }
    if (word == words.first) of_first = numbers.size();
    if (word == words.second && numbers.size() != 2 * of_first) {
      reader.error(span, "lists of two lengths", "one number of each for each axis");
      return std::nullopt;
    }
  }
  return numbers;
}

std::optional<ArrayType> read_type(LineReader& reader) {
  constexpr const char* kMend = "a type such as f32[2,3], or bool";
  if (!reader.expect(':', ":", kMend)) return std::nullopt;
  ArrayType type;
  const std::string_view word = reader.word();
  type.span = reader.last();
  const auto dtype = find_type(word);
  if (!dtype) {
    if (word.empty()) {
      reader.error_here("a type", kMend);
    } else {
      reader.error(type.span, fmt::format("no type {}", word.substr(0, 40)), kMend);
    }
    return std::nullopt;
  }
  type.dtype = *dtype;
  if (reader.now() == '[' && !read_list(reader, type.shape)) return std::nullopt;
  type.span.end = reader.place();
  if (std::any_of(type.shape.begin(), type.shape.end(), [](int64_t n) { return n < 0; })) {
    reader.error(type.span, "a negative extent", kMend);
    return std::nullopt;
  }
  return type;
}

}  // namespace hoist::graph::text
