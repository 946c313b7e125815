#include "cli/help/terminal_page.h"

#include <md4c.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cli/help/terminal_text.h"

namespace hoist::cli {
namespace {

constexpr size_t kTextIndent = 2;
constexpr size_t kCodeIndent = 6;
constexpr size_t kListIndent = 2;
constexpr size_t kLeastWidth = 20;

struct Link {
  std::string text;
  std::string target;
};

// The entities that a guide needs to write what Markdown would take for its own; others stay.
std::string_view character_of(std::string_view entity) {
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", "\u00a0"}};
  for (const auto& [name, character] : kEntities) {
    if (name == entity) return character;
  }
  return entity;
}

// Takes the parser's events one after the other.
class Page {
 public:
  explicit Page(const PageStyle& style) : style_(style) {}

  void enter_block(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        end_text();
        if (lists_.empty()) was_item_ = false;
        lists_.emplace_back();
        if (type == MD_BLOCK_OL) lists_.back() = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
        break;
      case MD_BLOCK_LI:
        bullet_ = lists_.back() ? std::to_string((*lists_.back())++) + ". " : "- ";
        break;
      case MD_BLOCK_H:
      case MD_BLOCK_TH:
        is_all_bold_ = true;
        break;
      case MD_BLOCK_TABLE:
        rows_.clear();
        break;
      case MD_BLOCK_TR:
        rows_.emplace_back();
        break;
      default:
        break;
    }
  }

  void leave_block(MD_BLOCKTYPE type) {
    is_all_bold_ = false;
    switch (type) {
      case MD_BLOCK_H:
        add_block({std::exchange(text_, {})}, 0);
        break;
      case MD_BLOCK_P:
      case MD_BLOCK_LI:
        end_text();
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        lists_.pop_back();
        break;
      case MD_BLOCK_CODE:
        end_code();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        rows_.back().push_back(std::exchange(text_, {}));
        break;
      case MD_BLOCK_TABLE:
        add_block(table_lines(rows_, width(kTextIndent)), kTextIndent);
        break;
      case MD_BLOCK_HTML:
        text_.clear();
        break;
      default:
        break;
    }
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_CODE && !style_.has_bold) text_ += '`';
    if (type == MD_SPAN_CODE || type == MD_SPAN_STRONG) ++bold_;
    if (type == MD_SPAN_A) {
      const MD_ATTRIBUTE& href = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
      links_.push_back({{}, std::string(href.text, href.size)});
      is_in_link_ = true;
    }
  }

  void leave_span(MD_SPANTYPE type) {
    if (type == MD_SPAN_CODE || type == MD_SPAN_STRONG) --bold_;
    if (type == MD_SPAN_CODE && !style_.has_bold) text_ += '`';
    if (type == MD_SPAN_A) is_in_link_ = false;
  }

  void text(MD_TEXTTYPE type, std::string_view piece) {
    if (type == MD_TEXT_HTML) return;
    const bool is_break = type == MD_TEXT_SOFTBR || type == MD_TEXT_BR;
    if (is_break) piece = " ";
    if (type == MD_TEXT_ENTITY) piece = character_of(piece);
    if (is_in_link_) links_.back().text += piece;
    const bool is_bold = (bold_ > 0 || is_all_bold_) && style_.has_bold;
    text_ += is_bold ? bold(piece) : std::string(piece);
  }

  std::string finish() {
    add_links();
    return std::move(page_);
  }

 private:
  size_t width(size_t indent) const {
    return std::max(style_.width, kLeastWidth + indent) - indent;
  }

  void add_block(const std::vector<std::string>& lines, size_t indent) {
    if (lines.empty()) return;
    if (!page_.empty()) page_ += '\n';
    add_lines(lines, indent, "");
  }

  // The first line is begun with `mark`, which ends where the others' text begins.
  void add_lines(const std::vector<std::string>& lines, size_t indent, const std::string& mark) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].empty()) {
        page_ += i == 0 ? std::string(indent - mark.size(), ' ') + mark : std::string(indent, ' ');
      }
      page_ += lines[i] + '\n';
    }
  }

  // A paragraph, or what an item of a list holds so far.
  void end_text() {
    const std::string text = std::exchange(text_, {});
    if (text.empty()) return;
    const std::string mark = std::exchange(bullet_, {});
    const size_t indent = kTextIndent + kListIndent * lists_.size() + (mark.size() > 2 ? 1 : 0);
    const std::vector<std::string> lines = wrapped(text, width(indent));
    const bool continues_list = !mark.empty() && std::exchange(was_item_, true);
    if (mark.empty()) was_item_ = false;
    if (!page_.empty() && !continues_list) page_ += '\n';
    add_lines(lines, indent, mark);
  }

  void end_code() {
    std::vector<std::string> lines;
    std::string_view rest = text_;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    add_block(lines, kCodeIndent);
    text_.clear();
  }

  void add_links() {
    TableRows rows;
    for (const Link& link : links_) {
      const std::string target = style_.target ? style_.target(link.target) : link.target;
      std::vector<std::string> row = {link.text, target};
      const bool is_known = std::find(rows.begin(), rows.end(), row) != rows.end();
      if (!target.empty() && target != link.text && !is_known) rows.push_back(std::move(row));
    }
    if (rows.empty()) return;
    size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, columns_of(row[0]));
    std::vector<std::string> lines;  // not wrapped: a path is copied whole
    for (const auto& row : rows) {
      lines.push_back(row[0] + std::string(widest - columns_of(row[0]) + 2, ' ') + row[1]);
    }
    add_block({style_.has_bold ? bold("Links") : "Links"}, 0);
    add_block(lines, kTextIndent);
  }

  const PageStyle& style_;
  std::string page_;
  std::string text_;          // of the block so far
  int bold_ = 0;              // spans that are, one in the other
  bool is_all_bold_ = false;  // the block is
  bool is_in_link_ = false;
  std::vector<Link> links_;
  std::vector<std::optional<unsigned>> lists_;  // the next item's number; none: bullets
  std::string bullet_;                          // of the item that has no text yet
  bool was_item_ = false;
  TableRows rows_;
};

}  // namespace

Result<std::string> terminal_page(std::string_view markdown, const PageStyle& style) {
  Page page(style);
  MD_PARSER parser = {};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_NOINDENTEDCODEBLOCKS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* page) {
    static_cast<Page*>(page)->enter_block(type, detail);
    return 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* page) {
    static_cast<Page*>(page)->leave_block(type);
    return 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* page) {
    static_cast<Page*>(page)->enter_span(type, detail);
    return 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* page) {
    static_cast<Page*>(page)->leave_span(type);
    return 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* page) {
    static_cast<Page*>(page)->text(type, {text, size});
    return 0;
  };
  if (::md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &page) != 0) {
    return fail(ErrorCode::exhausted, "no memory to lay a page out");
  }
  return page.finish();
}

}  // namespace hoist::cli
