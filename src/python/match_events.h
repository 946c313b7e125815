// Lists of events, an event a list of strs, as the index takes them: views of copies of the strs.
// Millions of objects that keep the strs themselves would take long to be let go.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "match/vocabulary/pattern.h"

namespace hoist::python {

// Not a str or bytes, which would be taken for lists of characters: TypeError. Any other iterable.
nanobind::tuple tuple_of(nanobind::handle items, const char* what);

// UTF-8 of a str, for as long as it lives; TypeError, UnicodeEncodeError.
std::string_view text_of(nanobind::handle text);

// Texts that stay where they are.
class TextCopies {
 public:
  std::string_view add(std::string_view text);

 private:
  static constexpr size_t kBlock = size_t{1} << 16;  // bytes

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

class EventList {
 public:
  explicit EventList(nanobind::handle events);

  match::PatternText& text() { return text_; }

 private:
  TextCopies copies_;
  match::PatternText text_;
};

class EventLists {
 public:
  explicit EventLists(nanobind::handle lists);

  size_t size() const { return texts_.size(); }
  std::span<match::PatternText> texts() { return texts_; }

 private:
  TextCopies copies_;
  std::vector<match::PatternText> texts_;
};

}  // namespace hoist::python
