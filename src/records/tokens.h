// A block of text taken apart: which shape each line has, and the values of each column.
//
//   Tokens tokens = tokenize(text, dialect);
//
// Nothing is copied: values are places in the text, shapes point into storage of `Tokens` itself.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/shape.h"

namespace hoist::records {

// As written into files; numbers never change their meaning.
enum class Format : uint8_t {
  plain = 0,  // bytes without columns
  json = 1,   // JSON Lines: a value a line
  csv = 2,    // fields between commas, tabs, semicolons or bars
  pairs = 3,  // key>>value key>>value
  symbolic =
      4,  // ⟆⟐.RAW:[§₿»⏱68a128dc»…,✓] and LORETOKEN.PRICE:[BTC-USD,ts:1,…,ACTIVE]
  log = 5,  // templates with variables
};

std::string_view name(Format format);

// What is known of a text before its lines are read.
struct Dialect {
  Format format = Format::plain;
  char delimiter = ',';                 // csv
  std::vector<std::string> names = {};  // csv: the header's fields; empty: there is no header
  uint32_t header_rows = 1;             // csv: lines of the header: its fields may hold line feeds
  bool starts_with_header = false;      // csv: this text begins with the header
  bool header_lost = false;     // of a file: its first row is none, for that was not to be repaired
  std::string pairs_form = {};  // pairs: "lt", "lts" or "ltu" where the file's name said so
};

enum class ColumnKind : uint8_t {
  bare = 0,    // a number, a word, true: as it stands
  text = 1,    // what stands between quotes
  length = 2,  // of lists
  line = 3,    // whole lines that have no shape
};

struct Field {
  uint32_t offset;
  uint32_t size;  // in a column of lengths: the length
};

struct TokenColumn {
  std::string path;
  ColumnKind kind;
  std::vector<Field> values;
};

struct Tokens {
  std::string_view text;
  Format format = Format::plain;
  bool ends_with_newline = false;
  std::deque<std::string> storage;  // of the shapes' bytes
  std::vector<Shape> shapes;
  std::vector<uint32_t> rows;  // a shape for each line
  std::vector<TokenColumn> columns;
  size_t unshaped = 0;  // lines without a shape of their own
};

// `text` has at most kMaxBlockText bytes and kMaxRows lines. A format other than plain.
Tokens tokenize(std::string_view text, const Dialect& dialect);

}  // namespace hoist::records
