// A line that is one JSON value. Slots are the contents of strings, and numbers, true, false and
// null; keys, punctuation and white space are the shape. This is no validator: whatever it finds,
// literals and values together are the line.
#include "records/limits.h"
#include "records/line_parser.h"

namespace hoist::records {
namespace {

// Deeper lines stay as they are.
constexpr int kMaxDepth = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

class JsonParser final : public LineParser {
 public:
  explicit JsonParser(ColumnIndex& columns) : columns_(columns) {}

  bool parse(std::string_view line, size_t /*row*/, LineSlots& out) override {
    at_ = line.data();
    end_ = at_ + line.size();
    out_ = &out;
    path_.clear();
    skip_space();
    if (at_ == end_ || !value(0)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // What stands between quotes, escapes as they are written.
  bool string(std::string_view& content) {
    if (!take('"')) return false;
    const char* begin = at_;
    while (at_ != end_ && *at_ != '"') {
      if (*at_ == '\\' && ++at_ == end_) return false;
      ++at_;
    }
    content = {begin, static_cast<size_t>(at_ - begin)};
    return take('"');
  }

  bool bare(std::string_view& word) {
    const char* begin = at_;
    while (at_ != end_ && is_bare(*at_)) ++at_;
    word = {begin, static_cast<size_t>(at_ - begin)};
    return !word.empty();
  }

  bool scalar(std::string_view& content, ColumnKind& kind) {
    kind = *at_ == '"' ? ColumnKind::text : ColumnKind::bare;
    return kind == ColumnKind::text ? string(content) : bare(content);
  }

  static Scan scan_of(ColumnKind kind) {
    return kind == ColumnKind::text ? Scan::json_text : Scan::json_bare;
  }

  bool value(int depth) {
    if (at_ == end_ || depth > kMaxDepth || out_->slots.size() > kMaxSlots) return false;
    if (*at_ == '{') return object(depth);
    if (*at_ == '[') return array(depth);
    std::string_view content;
    ColumnKind kind;
    if (!scalar(content, kind)) return false;
    out_->add(content, columns_.find(path_.empty() ? "/" : path_, kind), scan_of(kind));
    return true;
  }

  // As in JSON pointers (RFC 6901), '/' and '~' of a key are escaped.
  void enter(std::string_view key) {
    path_.push_back('/');
    for (const char c : key) {
      if (c == '~') {
        path_ += "~0";
      } else if (c == '/') {
        path_ += "~1";
      } else {
        path_.push_back(c);
      }
    }
  }

  bool object(int depth) {
    ++at_;
    skip_space();
    if (take('}')) return true;
    const size_t parent = path_.size();
    do {
      skip_space();
      std::string_view key;
      if (!string(key)) return false;
      skip_space();
      if (!take(':')) return false;
      skip_space();
      enter(key);
      if (!value(depth + 1)) return false;
      path_.resize(parent);
      skip_space();
    } while (take(','));
    return take('}');
  }

  bool array(int depth) {
    const char* const begin = at_++;
    skip_space();
    if (take(']')) return true;
    const size_t parent = path_.size();
    path_ += "[]";
    if (list(parent)) return true;
    at_ = begin + 1;
    do {
      skip_space();
      if (!value(depth + 1)) return false;
      skip_space();
    } while (take(','));
    path_.resize(parent);
    return take(']');
  }

  // An array of scalars of one kind with the same characters between all of them. Else false, and
  // nothing is added.
  bool list(size_t parent) {
    const size_t first = out_->elements.size();
    ColumnKind kind = ColumnKind::bare;
    std::string_view separator;
    for (;;) {
      std::string_view content;
      ColumnKind this_kind;
      if (at_ == end_ || *at_ == '{' || *at_ == '[' || !scalar(content, this_kind) ||
          (out_->elements.size() > first && this_kind != kind)) {
        return fail_list(first);
      }
      kind = this_kind;
      if (out_->elements.size() > first) {
        const char* after = out_->elements.back().data() + out_->elements.back().size();
        const std::string_view between(after, static_cast<size_t>(content.data() - after));
        if (out_->elements.size() > first + 1 && between != separator) return fail_list(first);
        separator = between;
      }
      out_->elements.push_back(content);
      skip_space();
      if (!take(',')) break;
      skip_space();
    }
    if (!take(']')) return fail_list(first);
    add_list(parent, kind, separator, first);
    return true;
  }

  bool fail_list(size_t first) {
    out_->elements.resize(first);
    return false;
  }

  void add_list(size_t parent, ColumnKind kind, std::string_view separator, size_t first) {
    std::string_view& usual = kind == ColumnKind::text ? text_separator_ : bare_separator_;
    const size_t count = out_->elements.size() - first;
    // One element alone tells nothing of separators: it gets that of a list before it, in the
    // block.
    if (count > 1) usual = separator;
    const uint32_t elements = columns_.find(path_, kind);
    path_.resize(parent);
    const uint32_t lengths = columns_.find(path_, ColumnKind::length);
    out_->failed |= elements == UINT32_MAX || lengths == UINT32_MAX;
    const char* begin = out_->elements[first].data();
    const char* end = out_->elements.back().data() + out_->elements.back().size();
    out_->slots.push_back({.value = {begin, static_cast<size_t>(end - begin)},
                           .column = elements,
                           .scan = scan_of(kind),
                           .kind = SlotKind::list,
                           .lengths = lengths,
                           .separator = usual,
                           .first_element = first,
                           .elements = count});
  }

  ColumnIndex& columns_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  LineSlots* out_ = nullptr;
  std::string path_;
  std::string_view text_separator_ = R"(", ")";
  std::string_view bare_separator_ = ", ";
};

}  // namespace

std::unique_ptr<LineParser> json_parser(ColumnIndex& columns) {
  return std::make_unique<JsonParser>(columns);
}

}  // namespace hoist::records
