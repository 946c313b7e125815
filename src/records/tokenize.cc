#include <cstring>

#include "records/limits.h"
#include "records/line_parser.h"
#include "records/scan.h"
#include "records/tokens.h"

namespace hoist::records {

uint32_t ColumnIndex::find(std::string_view path, ColumnKind kind) {
  if (path.size() > kMaxPath) return UINT32_MAX;
  key_.assign(path);
  key_.push_back(static_cast<char>(kind));
  const auto known = numbers_.find(key_);
  if (known != numbers_.end()) return known->second;
  if (columns_.size() >= kMaxColumns) return UINT32_MAX;
  const auto number = static_cast<uint32_t>(columns_.size());
  columns_.push_back({.path = std::string(path), .kind = kind, .values = {}});
  numbers_.emplace(key_, number);
  return number;
}

namespace {

// The memory that the descriptions of a block's shapes may take before its lines stay as they are.
constexpr size_t kMaxShapeBytes = kMaxHeader / 4;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', end - at));
    const char* line_end = newline != nullptr ? newline : end;
    lines.emplace_back(at, line_end - at);
    at = newline != nullptr ? newline + 1 : end;
  }
  return lines;
}

class Tokenizer {
 public:
  Tokenizer(std::string_view text, const Dialect& dialect)
      : lines_(split_lines(text)), columns_(tokens_.columns), scanner_(dialect.delimiter) {
    tokens_.text = text;
    tokens_.format = dialect.format;
    tokens_.ends_with_newline = !text.empty() && text.back() == '\n';
    switch (dialect.format) {
      case Format::plain:
        break;
      case Format::json:
        parser_ = json_parser(columns_);
        break;
      case Format::csv:
        parser_ = csv_parser(columns_, dialect);
        break;
      case Format::pairs:
        parser_ = pairs_parser(columns_);
        break;
      case Format::symbolic:
        parser_ = symbolic_parser(columns_);
        break;
      case Format::log:
        parser_ = log_parser(columns_, lines_);
        break;
    }
  }

  Tokens run() && {
    tokens_.rows.reserve(lines_.size());
    for (size_t row = 0; row < lines_.size(); ++row) tokens_.rows.push_back(shape_of(row));
    return std::move(tokens_);
  }

 private:
  uint32_t shape_of(size_t row) {
    const std::string_view line = lines_[row];
    if (parser_->may_match() && !tokens_.shapes.empty()) {
      // What followed this shape the last time, then the shape itself.
      for (const uint32_t shape : {next_[last_], last_}) {
        if (match(tokens_.shapes[shape], line)) return took(shape);
      }
    }
    slots_.clear();
    if (parser_->parse(line, row, slots_) && !slots_.failed) {
      if (const uint32_t shape = find_shape(line); shape != UINT32_MAX) {
        if (commit_slots()) return took(shape);
      }
    }
    return whole_line(line);
  }

  uint32_t took(uint32_t shape) {
    next_[last_] = shape;
    last_ = shape;
    return shape;
  }

  Field field(std::string_view value) const {
    return {static_cast<uint32_t>(value.data() - tokens_.text.data()),
            static_cast<uint32_t>(value.size())};
  }
  Field field(const char* begin, const char* end) const {
    return field({begin, static_cast<size_t>(end - begin)});
  }

  bool match(const Shape& shape, std::string_view line) {
    pending_.clear();
    const char* at = line.data();
    const char* const end = at + line.size();
    for (const Piece& piece : shape) {
      if (!begins_with(at, end, piece.literal)) return false;
      at += piece.literal.size();
      const auto scan = static_cast<Scan>(piece.scan);
      if (piece.slot == SlotKind::value) {
        const char* value_end = scanner_.find_end(scan, at, end);
        if (value_end == nullptr) return false;
        pending_.push_back({piece.column, field(at, value_end)});
        at = value_end;
      } else if (piece.slot == SlotKind::list) {
        at = match_list(piece, at, end);
        if (at == nullptr) return false;
      }
    }
    return at == end && commit_pending();
  }

  static bool begins_with(const char* at, const char* end, std::string_view literal) {
    return std::string_view(at, static_cast<size_t>(end - at)).starts_with(literal);
  }

  const char* match_list(const Piece& piece, const char* at, const char* end) {
    uint32_t length = 0;
    for (;;) {
      const char* value_end = scanner_.find_end(static_cast<Scan>(piece.scan), at, end);
      if (value_end == nullptr) return nullptr;
      pending_.push_back({piece.column, field(at, value_end)});
      ++length;
      at = value_end;
      if (!begins_with(at, end, piece.separator)) break;
      at += piece.separator.size();
    }
    pending_.push_back({piece.lengths, {0, length}});
    return at;
  }

  bool commit_pending() {
    if (values_ + pending_.size() + lines_.size() > kMaxValues) return false;
    values_ += pending_.size();
    for (const auto& [column, value] : pending_) tokens_.columns[column].values.push_back(value);
    return true;
  }

  bool commit_slots() {
    pending_.clear();
    for (const LineSlot& slot : slots_.slots) {
      if (slot.kind == SlotKind::value) {
        pending_.push_back({slot.column, field(slot.value)});
        continue;
      }
      for (size_t i = 0; i < slot.elements; ++i) {
        pending_.push_back({slot.column, field(slots_.elements[slot.first_element + i])});
      }
      pending_.push_back({slot.lengths, {0, static_cast<uint32_t>(slot.elements)}});
    }
    return commit_pending();
  }

  // The shape of the line with the slots found; UINT32_MAX where there would be too many.
  uint32_t find_shape(std::string_view line) {
    if (slots_.slots.size() > kMaxSlots) return UINT32_MAX;
    shape_.clear();
    const char* at = line.data();
    for (const LineSlot& slot : slots_.slots) {
      shape_.push_back({.literal = {at, static_cast<size_t>(slot.value.data() - at)},
                        .slot = slot.kind,
                        .column = slot.column,
                        .lengths = slot.lengths,
                        .separator = slot.separator,
                        .scan = static_cast<uint8_t>(slot.scan)});
      at = slot.value.data() + slot.value.size();
    }
    shape_.push_back({.literal = {at, static_cast<size_t>(line.data() + line.size() - at)}});
    return number_of(shape_);
  }

  // Shapes are told apart by what is written of them, and by how their values end.
  uint32_t number_of(const Shape& shape) {
    while (identity_.size() < tokens_.columns.size()) {
      identity_.push_back(static_cast<uint32_t>(identity_.size()));
    }
    key_.clear();
    write_shape(shape, identity_, key_);
    for (const Piece& piece : shape) key_.push_back(static_cast<char>(piece.scan));
    const auto known = numbers_.find(key_);
    if (known != numbers_.end()) return known->second;
    if (tokens_.shapes.size() >= kMaxShapes || shape_bytes_ + key_.size() > kMaxShapeBytes ||
        shape_slots_ + shape.size() > kMaxShapeSlots) {
      return UINT32_MAX;
    }
    shape_bytes_ += key_.size();
    shape_slots_ += shape.size();
    const auto number = static_cast<uint32_t>(tokens_.shapes.size());
    numbers_.emplace(key_, number);
    tokens_.shapes.push_back(keep(shape));
    next_.push_back(number);
    return number;
  }

  // The shape with literals that outlive the line and the parser.
  Shape keep(const Shape& shape) {
    size_t size = 0;
    for (const Piece& piece : shape) size += piece.literal.size() + piece.separator.size();
    std::string& bytes = tokens_.storage.emplace_back();
    bytes.reserve(size);
    const auto store = [&](std::string_view text) {
      bytes.append(text);
      return std::string_view(bytes).substr(bytes.size() - text.size());
    };
    Shape kept = shape;
    for (Piece& piece : kept) {
      piece.literal = store(piece.literal);
      piece.separator = store(piece.separator);
    }
    return kept;
  }

  uint32_t whole_line(std::string_view line) {
    ++tokens_.unshaped;
    if (line_shape_ == UINT32_MAX) {
      // Its own column and shape are there whatever the limits say: there is one of each.
      line_column_ = static_cast<uint32_t>(tokens_.columns.size());
      tokens_.columns.push_back({.path = "", .kind = ColumnKind::line, .values = {}});
      line_shape_ = static_cast<uint32_t>(tokens_.shapes.size());
      tokens_.shapes.push_back({{.slot = SlotKind::value,
                                 .column = line_column_,
                                 .scan = static_cast<uint8_t>(Scan::none)},
                                {}});
      next_.push_back(line_shape_);
    }
    tokens_.columns[line_column_].values.push_back(field(line));
    return line_shape_;
  }

  Tokens tokens_;
  std::vector<std::string_view> lines_;
  ColumnIndex columns_;
  Scanner scanner_;
  std::unique_ptr<LineParser> parser_;

  LineSlots slots_;
  Shape shape_;
  std::vector<std::pair<uint32_t, Field>> pending_;
  size_t values_ = 0;

  std::unordered_map<std::string, uint32_t> numbers_;
  std::string key_;
  std::vector<uint32_t> identity_;
  std::vector<uint32_t> next_;  // for each shape the one that followed it
  uint32_t last_ = 0;
  size_t shape_bytes_ = 0;
  size_t shape_slots_ = 0;
  uint32_t line_shape_ = UINT32_MAX;
  uint32_t line_column_ = 0;
};

}  // namespace

std::string_view name(Format format) {
  constexpr std::string_view kNames[] = {"plain", "json", "csv", "pairs", "symbolic", "log"};
  return kNames[static_cast<size_t>(format)];
}

Tokens tokenize(std::string_view text, const Dialect& dialect) {
  return Tokenizer(text, dialect).run();
}

}  // namespace hoist::records
