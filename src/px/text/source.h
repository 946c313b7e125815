// The text of a px file, and places in it.
//
//   const Source source("k.px", text);
//   const Position at = source.position(span.begin);  // line 3, column 7
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::px {

// Bytes of a source, from `begin` up to `end`.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// From the first byte of one to the last of the other.
inline Span join(Span first, Span last) { return {first.begin, last.end}; }

// Both count from 1. A column is a character, not a byte.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Source {
 public:
  // Spans are 32 bits wide, and no kernel is that long.
  static constexpr size_t kMostBytes = 16 << 20;

  // Cuts `text` off behind `most_bytes`; who reads files refuses longer ones.
  Source(std::string name, std::string text, size_t most_bytes = kMostBytes);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  Position position(uint32_t offset) const;
  // The word, or else the character, that begins there.
  Span word_at(Position position) const;
  // Without its end; empty where there is no such line.
  std::string_view line(uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

}  // namespace hoist::px
