// Indented lines of emitted code.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace hoist::px {

class Lines {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  // "head {" and what follows one level deeper, until end().
  void begin(const std::string& head) {
    add("{} {{", head);
    ++depth_;
  }
  void begin_else() {
    --depth_;
    add("}} else {{");
    ++depth_;
  }
  void end(const std::string& tail = {}) {
    --depth_;
    add("}}{}", tail);
  }
  void blank() { text_ += '\n'; }
  // Lines that are whole already.
  void raw(const std::string& text) { text_ += text; }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace hoist::px
