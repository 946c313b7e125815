#include "python/match_events.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "python/interruptible.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

constexpr const char* kEvent = "an event: a list of symbols";

// `events_read` are those of all lists so far.
void read_events(nb::handle events, TextCopies& copies, match::PatternText& text,
                 size_t& events_read, const char* event_kind = kEvent) {
  const nb::tuple all = tuple_of(events, "a list of events");
  for (const nb::handle event : all) {
    check_signals(events_read++);
    const auto add = [&](nb::handle symbol) { text.tokens.push_back(copies.add(text_of(symbol))); };
    if (PyList_CheckExact(event.ptr())) {
      // Reading a str runs no code that could change the list.
      const Py_ssize_t size = PyList_Size(event.ptr());
      for (Py_ssize_t i = 0; i < size; ++i) add(PyList_GetItem(event.ptr(), i));
    } else {
      for (const nb::handle symbol : tuple_of(event, event_kind)) add(symbol);
    }
    text.end_event();
  }
}

}  // namespace

std::string_view TextCopies::add(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > left_) {
    left_ = std::max(kBlock, text.size());
    blocks_.emplace_back(new char[left_]);
    next_ = blocks_.back().get();
  }
  char* const copy = next_;
  std::memcpy(copy, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return {copy, text.size()};
}

nb::tuple tuple_of(nb::handle items, const char* what) {
  if (PyUnicode_Check(items.ptr()) || PyBytes_Check(items.ptr())) {
    const auto type = nb::cast<std::string>(items.type().attr("__name__"));
    throw nb::type_error((std::string("expected ") + what + ", not " + type).c_str());
  }
  PyObject* const tuple = PySequence_Tuple(items.ptr());
  if (tuple == nullptr) throw nb::python_error();
  return nb::steal<nb::tuple>(tuple);
}

std::string_view text_of(nb::handle text) {
  Py_ssize_t size = 0;
  if (!PyUnicode_Check(text.ptr())) {
    throw nb::type_error("a symbol, a name, or text of another kind is a str");
  }
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

EventList::EventList(nb::handle events) {
  size_t events_read = 0;
  read_events(events, copies_, text_, events_read);
}

EventLists::EventLists(nb::handle lists) {
  const nb::tuple all = tuple_of(lists, "a list of lists of events");
  texts_.resize(all.size());
  size_t events_read = 0;
  for (size_t i = 0; i < texts_.size(); ++i) {
    read_events(
        all[i], copies_, texts_[i], events_read,
        "a list of lists of events, an event a list of symbols (one of them alone goes into "
        "a list of its own)");
  }
}

}  // namespace hoist::python
