// Walks over a text line by line, and says what is wrong with it: only the first error, since those
// behind it may come from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "px/text/diagnostic.h"

namespace hoist::graph::text {

class LineReader {
 public:
  LineReader(const px::Source& source, px::Diagnostics& diagnostics)
      : text_(source.text()), diagnostics_(diagnostics) {}

  // The next line that has more than a comment; false behind the last one.
  bool next_line();
  bool is_at_end();

  // All of these pass spaces first.
  char now();  // 0 at the end
  bool take_if(char sign);
  // Whether it was there; else "… where WHAT belongs" has been said.
  bool expect(char sign, std::string_view what, const std::string& mend);
  bool expect_end();
  // Letters, digits, _ and . ; empty where there is none.
  std::string_view word();
  // As word(), with what numbers have, too: + and -.
  std::string_view number_word();
  // The number of a word; said to be none else.
  std::optional<int64_t> integer(const std::string& what);

  // Where what was taken last lies.
  px::Span last() const { return last_; }
  px::Span here();
  uint32_t place() const { return static_cast<uint32_t>(at_); }
  void go_to(uint32_t place) { at_ = place; }
  // The first such sign of the line from here on; its end where there is none.
  uint32_t find(char sign) const;

  bool has_failed() const { return has_failed_; }
  void error(px::Span span, std::string what, std::string mend);
  void error_here(std::string_view what, std::string mend);

 private:
  void skip_spaces();
  std::string_view take_while(bool (*belongs)(char));

  std::string_view text_;
  px::Diagnostics& diagnostics_;
  size_t at_ = 0;
  size_t end_ = 0;   // of the line, without its comment
  size_t next_ = 0;  // line
  px::Span last_;
  bool has_failed_ = false;
};

}  // namespace hoist::graph::text
