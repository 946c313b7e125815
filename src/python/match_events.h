// Lists of events, an event a list of strs, as the index takes them: views of the strs, which the
// objects here keep alive while the interpreter's lock is released.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <span>
#include <vector>

#include "match/vocabulary/pattern.h"

namespace hoist::python {

// Not a str or bytes, which would be taken for lists of characters: TypeError. Any other iterable.
nanobind::tuple tuple_of(nanobind::handle items, const char* what);

// UTF-8 of a str, for as long as it lives; TypeError, UnicodeEncodeError.
std::string_view text_of(nanobind::handle text);

class EventList {
 public:
  explicit EventList(nanobind::handle events);

  match::PatternText& text() { return text_; }

 private:
  std::vector<nanobind::object> kept_;
  match::PatternText text_;
};

class EventLists {
 public:
  explicit EventLists(nanobind::handle lists);

  size_t size() const { return texts_.size(); }
  std::span<match::PatternText> texts() { return texts_; }

 private:
  std::vector<nanobind::object> kept_;
  std::vector<match::PatternText> texts_;
};

}  // namespace hoist::python
