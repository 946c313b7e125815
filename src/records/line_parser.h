// What the tokenizers of all formats share: a line's slots as a parser finds them, and the columns
// that they belong to. A parser is made for one block and may keep what it has learnt of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/tokens.h"

namespace hoist::records {

// How far a value reaches, for lines that look like the one before: see scan.h.
// `none`: only the parser can tell.
enum class Scan : uint8_t { none, json_text, json_bare, field, quoted, word, symbol };

// The number of a column by path and kind.
class ColumnIndex {
 public:
  explicit ColumnIndex(std::vector<TokenColumn>& columns) : columns_(columns) {}
  // UINT32_MAX where there are too many columns, or the path is longer than kMaxPath.
  uint32_t find(std::string_view path, ColumnKind kind);

 private:
  std::vector<TokenColumn>& columns_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::string key_;
};

struct LineSlot {
  std::string_view value;  // of a list: all of its elements with what is between them
  uint32_t column;
  Scan scan;
  SlotKind kind = SlotKind::value;
  uint32_t lengths = 0;  // of a list, as below
  std::string_view separator = {};
  size_t first_element = 0;
  size_t elements = 0;
};

struct LineSlots {
  std::vector<LineSlot> slots;
  std::vector<std::string_view> elements;  // of all lists
  bool failed = false;

  void clear() {
    slots.clear();
    elements.clear();
    failed = false;
  }
  void add(std::string_view value, uint32_t column, Scan scan) {
    failed |= column == UINT32_MAX;
    slots.push_back({.value = value, .column = column, .scan = scan});
  }
};

class LineParser {
 public:
  virtual ~LineParser() = default;
  // Finds the slots of line number `row`, in order. False: the line has no shape.
  virtual bool parse(std::string_view line, size_t row, LineSlots& out) = 0;
  // Whether lines may be matched with the shapes of earlier ones by Scan alone.
  virtual bool may_match() const { return true; }
};

std::unique_ptr<LineParser> json_parser(ColumnIndex& columns);
std::unique_ptr<LineParser> csv_parser(ColumnIndex& columns, const Dialect& dialect);
std::unique_ptr<LineParser> pairs_parser(ColumnIndex& columns);
std::unique_ptr<LineParser> symbolic_parser(ColumnIndex& columns);
// Reads all lines of the block first, to find their templates.
std::unique_ptr<LineParser> log_parser(ColumnIndex& columns,
                                       const std::vector<std::string_view>& lines);

}  // namespace hoist::records
