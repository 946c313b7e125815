// Lines whose values lie between separators: CSV, key>>value pairs, symbolic lines.
#include <string>

#include "records/limits.h"
#include "records/line_parser.h"

namespace hoist::records {
namespace {

// A line end of CR LF keeps its CR in the shape.
std::string_view without_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string numbered(size_t index) { return "/" + std::to_string(index); }

class CsvParser final : public LineParser {
 public:
  CsvParser(ColumnIndex& columns, const Dialect& dialect)
      : columns_(columns),
        delimiter_(dialect.delimiter),
        header_rows_(dialect.starts_with_header ? dialect.header_rows : 0) {
    for (const std::string& name : dialect.names) paths_.push_back("/" + name);
  }

  bool parse(std::string_view line, size_t row, LineSlots& out) override {
    if (row < header_rows_) return true;
    line = without_return(line);
    const char* at = line.data();
    const char* const end = at + line.size();
    for (size_t index = 0;; ++index) {
      if (index > kMaxSlots) return false;
      const bool quoted = at != end && *at == '"';
      const char* begin = quoted ? at + 1 : at;
      const char* value_end = quoted ? end_of_quoted(begin, end) : end_of_bare(begin, end);
      if (value_end == nullptr) return false;
      const ColumnKind kind = quoted ? ColumnKind::text : ColumnKind::bare;
      out.add({begin, static_cast<size_t>(value_end - begin)}, columns_.find(path(index), kind),
              quoted ? Scan::quoted : Scan::field);
      at = quoted ? value_end + 1 : value_end;
      if (at == end) return true;
      if (*at != delimiter_) return false;
      ++at;
    }
  }

 private:
  const char* end_of_bare(const char* at, const char* end) const {
    while (at != end && *at != delimiter_) {
      if (*at == '"' || *at == '\r') return nullptr;
      ++at;
    }
    return at;
  }
  static const char* end_of_quoted(const char* at, const char* end) {
    for (; at != end; ++at) {
      if (*at != '"') continue;
      if (end - at < 2 || at[1] != '"') return at;
      ++at;
    }
    return nullptr;
  }

  const std::string& path(size_t index) {
    while (paths_.size() <= index) paths_.push_back(numbered(paths_.size()));
    return paths_[index];
  }

  ColumnIndex& columns_;
  char delimiter_;
  size_t header_rows_;
  std::vector<std::string> paths_;
};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// key>>value, parted by white space. Words without >> belong to the value before them; those before
// the first key are the shape's.
class PairsParser final : public LineParser {
 public:
  explicit PairsParser(ColumnIndex& columns) : columns_(columns) {}

  bool parse(std::string_view line, size_t /*row*/, LineSlots& out) override {
    std::string_view open;  // the value whose end is not known yet
    const size_t size = line.size();
    for (size_t at = 0; at < size;) {
      while (at < size && is_blank(line[at])) ++at;
      size_t end = at;
      while (end < size && !is_blank(line[end])) ++end;
      const std::string_view word = line.substr(at, end - at);
      const size_t mark = word.find(">>");
      if (mark != std::string_view::npos) {
        close(open, out);
        path_.assign("/").append(word.substr(0, mark));
        open = word.substr(mark + 2);
        found_ = true;
      } else if (found_ && !word.empty()) {
        open = {open.data(), static_cast<size_t>(word.data() + word.size() - open.data())};
      }
      at = end;
    }
    const bool any = found_;
    close(open, out);
    return any;
  }

 private:
  void close(std::string_view value, LineSlots& out) {
    if (!found_) return;
    found_ = false;
    // A value with white space in it does not end at the first.
    const bool is_word = value.find_first_of(" \t\r\v\f") == std::string_view::npos;
    out.add(value, columns_.find(path_, ColumnKind::bare), is_word ? Scan::word : Scan::none);
  }

  ColumnIndex& columns_;
  std::string path_;
  bool found_ = false;
};

constexpr std::string_view kFieldMark = "\u00bb";  // »

// TYPE.SUBTYPE:[field»field,STATUS], or with commas instead of ». A field is a glyph with its
// value, or key:value, or a value alone.
class SymbolicParser final : public LineParser {
 public:
  explicit SymbolicParser(ColumnIndex& columns) : columns_(columns) {}

  bool parse(std::string_view line, size_t /*row*/, LineSlots& out) override {
    line = without_return(line);
    const size_t open = line.find(":[");
    if (open == std::string_view::npos || line.back() != ']') return false;
    std::string_view fields = line.substr(open + 2, line.size() - open - 3);
    const size_t status = fields.rfind(',');
    std::string_view tail;
    if (status != std::string_view::npos) {
      tail = fields.substr(status + 1);
      fields = fields.substr(0, status);
    }
    const bool glyphs = fields.find(kFieldMark) != std::string_view::npos;
    const std::string_view mark = glyphs ? kFieldMark : std::string_view(",");
    for (size_t index = 0;; ++index) {
      if (index > kMaxSlots) return false;
      const size_t end = fields.find(mark);
      add_field(fields.substr(0, end), index, out);
      if (end == std::string_view::npos) break;
      fields.remove_prefix(end + mark.size());
    }
    if (status != std::string_view::npos) {
      out.add(tail, columns_.find("/status", ColumnKind::bare), Scan::symbol);
    }
    return true;
  }

 private:
  void add_field(std::string_view field, size_t index, LineSlots& out) {
    const size_t glyph = glyph_bytes(field);
    const size_t colon = field.find(':');
    if (glyph > 0) {
      path_.assign("/").append(field.substr(0, glyph));
      field.remove_prefix(glyph);
    } else if (colon != std::string_view::npos) {
      path_.assign("/").append(field.substr(0, colon));
      field.remove_prefix(colon + 1);
    } else {
      path_ = numbered(index);
    }
    const bool plain = field.find_first_of("\xc2,]\r") == std::string_view::npos;
    out.add(field, columns_.find(path_, ColumnKind::bare), plain ? Scan::symbol : Scan::none);
  }

  // The size of the first character, where it is not ASCII and whole.
  static size_t glyph_bytes(std::string_view field) {
    const uint8_t lead = field.empty() ? 0 : static_cast<uint8_t>(field[0]);
    const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    return size <= field.size() ? size : 0;
  }

  ColumnIndex& columns_;
  std::string path_;
};

}  // namespace

std::unique_ptr<LineParser> csv_parser(ColumnIndex& columns, const Dialect& dialect) {
  return std::make_unique<CsvParser>(columns, dialect);
}
std::unique_ptr<LineParser> pairs_parser(ColumnIndex& columns) {
  return std::make_unique<PairsParser>(columns);
}
std::unique_ptr<LineParser> symbolic_parser(ColumnIndex& columns) {
  return std::make_unique<SymbolicParser>(columns);
}

}  // namespace hoist::records
