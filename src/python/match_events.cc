#include "python/match_events.h"

#include <nanobind/stl/string.h>

#include <string>

#include "python/interruptible.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

constexpr const char* kEvent = "an event: a list of symbols";

void read_events(nb::handle events, std::vector<nb::object>& kept, match::PatternText& text,
                 const char* event_kind = kEvent) {
  const nb::tuple all = tuple_of(events, "a list of events");
  for (const nb::handle event : all) {
    check_signals(kept.size());
    nb::tuple symbols = tuple_of(event, event_kind);
    for (const nb::handle symbol : symbols) text.tokens.push_back(text_of(symbol));
    text.end_event();
    kept.push_back(std::move(symbols));
  }
}

}  // namespace

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

EventList::EventList(nb::handle events) { read_events(events, kept_, text_); }

EventLists::EventLists(nb::handle lists) {
  const nb::tuple all = tuple_of(lists, "a list of lists of events");
  texts_.resize(all.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    read_events(
        all[i], kept_, texts_[i],
        "a list of lists of events, an event a list of symbols (one of them alone goes into "
        "a list of its own)");
  }
}

}  // namespace hoist::python
