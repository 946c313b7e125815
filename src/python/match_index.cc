// hoist._index: the index of hoist.match. A module of its own, because it brings a database along
// that nothing else of the package needs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "match/index/index.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/main_interpreter.h"
#include "python/match_bulk.h"
#include "python/match_events.h"
#include "python/match_hits.h"
#include "python/match_record.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

match::Emotives emotives_of(nb::handle emotives) {
  match::Emotives out;
  if (emotives.is_none()) return out;
  PyObject* key = nullptr;
  PyObject* number = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(emotives.ptr(), &at, &key, &number) != 0) {
    const double strength = PyFloat_AsDouble(number);
    if (strength == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (!std::isfinite(strength)) {
      raise({ErrorCode::invalid_argument, "an emotive that is no finite number"});
    }
    out.emplace_back(text_of(key), strength);
  }
  std::sort(out.begin(), out.end());  // as the index wants them
  return out;
}

// Element i of a sequence that may be None.
nb::object element(nb::handle sequence, size_t i) {
  if (sequence.is_none()) return nb::none();
  return nb::object(sequence[i]);
}

uint32_t frequency_of(nb::handle number) {
  if (number.is_none()) return 1;
  const nb::object integer = nb::steal(PyNumber_Index(number.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  const unsigned long long wide = PyLong_AsUnsignedLongLong(integer.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (wide > UINT32_MAX) raise({ErrorCode::invalid_argument, "a frequency above 2^32 - 1"});
  return static_cast<uint32_t>(wide);
}

// So much of an index's memory, times what each byte takes, is looked at before a thread has
// started; and so many patterns are learned.
constexpr uint64_t kLongSearch = uint64_t{1} << 22;
constexpr size_t kLongLearning = 64;

// Whether a search is worth a thread. Counting takes time in proportion to a state's words of 64
// symbols, blocks, as difflib and records need them, to its symbols.
bool is_long(const match::Index& index, std::span<const match::PatternText> states, bool blocks) {
  uint64_t work = 0;
  for (const match::PatternText& state : states) {
    work += blocks ? state.tokens.size() : state.tokens.size() / 64 + 1;
  }
  return work * index.memory() >= kLongSearch;
}

// Every call keeps the index alive for as long as it works, whoever closes it meanwhile. What is
// guarded by the interpreter's lock is whole in a child after os.fork(), which that lock is held
// for.
class PythonIndex {
 public:
  PythonIndex(const std::string& path, const match::IndexOptions& options) {
    auto opened = [&] {
      const ReleasedGil released;
      return match::Index::open(path, options);
    }();
    index_ = value(std::move(opened));
  }
  PythonIndex(const PythonIndex&) = delete;
  PythonIndex& operator=(const PythonIndex&) = delete;
  ~PythonIndex() { close(); }

  void close() {
    std::shared_ptr<match::Index> closing;
    closing.swap(index_);
    const ReleasedGil released;
    closing.reset();
  }

  nb::str learn(const nb::object& events, const std::string& name, const nb::object& frequency,
                const nb::object& emotives, const std::string& metadata) {
    const auto index = open_index();
    EventList list(events);
    const match::LearnOptions options = {.name = name,
                                         .frequency = frequency_of(frequency),
                                         .emotives = emotives_of(emotives),
                                         .metadata = metadata};
    auto learned = [&] {
      const ReleasedGil released;
      return index->learn(list.text(), options);
    }();
    const std::string text = value(std::move(learned)).name;
    return nb::str(text.data(), text.size());
  }

  // Names of the patterns, in order. The lists are as long as `patterns`, or None.
  nb::list learn_many(const nb::object& patterns, const nb::object& names,
                      const nb::object& frequencies, const nb::object& emotives,
                      const nb::object& metadata) {
    const auto index = open_index();
    EventLists lists(patterns);
    std::vector<BulkPattern> bulk(lists.size());
    for (size_t i = 0; i < bulk.size(); ++i) {
      check_signals(i);
      if (!names.is_none()) bulk[i].name = text_of(element(names, i));
      if (!metadata.is_none()) bulk[i].metadata = text_of(element(metadata, i));
      bulk[i].frequency = frequency_of(element(frequencies, i));
      bulk[i].emotives = emotives_of(element(emotives, i));
    }
    auto learned = interruptible(bulk.size() >= kLongLearning, [&](const std::stop_token& stop) {
      return learn_all(*index, bulk_mutex_, lists.texts(), bulk, stop);
    });
    nb::list out;
    for (const std::string& name : value(std::move(learned))) {
      check_signals(out.size());
      out.append(nb::str(name.data(), name.size()));
    }
    return out;
  }

  // How many were new, of arrays one after the other.
  uint64_t learn_arrays(const nb::list& arrays) {
    const auto index = open_index();
    std::vector<const ArrayPatterns*> parts;
    size_t patterns = 0;
    for (const nb::handle array : arrays) {
      parts.push_back(nb::cast<const ArrayPatterns*>(array));
      patterns += parts.back()->size();
    }
    auto learned = interruptible(patterns >= kLongLearning, [&](const std::stop_token& stop) {
      return learn_all(*index, bulk_mutex_, parts, stop);
    });
    return value(std::move(learned));
  }

  nb::list predict(const nb::object& state, const match::RecordOptions& options,
                   const std::string& emotive) {
    const auto index = open_index();
    EventList list(state);
    match::RecordOptions asked = options;
    asked.affinity_emotive = emotive;
    const bool is_worth = is_long(*index, {&list.text(), 1}, true);
    auto prediction = interruptible(is_worth, [&](const std::stop_token& stop) {
      asked.stop = stop;
      return index->predict(list.text(), asked);
    });
    return record_dicts(value(std::move(prediction)), list.text(), *index);
  }

  std::unique_ptr<Hits> search(const nb::object& states, const std::string& scorer,
                               double threshold, size_t top) {
    const auto index = open_index();
    const auto found = match::scorer_named(scorer);
    if (!found) raise({ErrorCode::invalid_argument, "no such scorer: " + scorer});
    EventLists lists(states);
    const bool blocks =
        *found == match::Scorer::difflib || *found == match::Scorer::difflib_autojunk;
    auto results =
        interruptible(is_long(*index, lists.texts(), blocks), [&](const std::stop_token& stop) {
          return index->search(
              lists.texts(), {.scorer = *found, .threshold = threshold, .top = top, .stop = stop});
        });
    return std::make_unique<Hits>(value(std::move(results)), index);
  }

  nb::list patterns(const Hits& hits, size_t state, size_t begin, size_t end,
                    const std::string& form) {
    return hits.patterns(open_index(), state, begin, end, form);
  }

  nb::list names(const std::vector<uint32_t>& ids) {
    const auto index = open_index();
    auto names = [&] {
      const ReleasedGil released;
      return index->names(ids);
    }();
    nb::list out;
    for (const std::string& name : value(std::move(names))) {
      out.append(nb::str(name.data(), name.size()));
    }
    return out;
  }

  void remove(const std::string& name) {
    const auto index = open_index();
    const Status removed = [&] {
      const ReleasedGil released;
      return index->remove(name);
    }();
    check(removed);
  }

  bool contains(const std::string& name) {
    const auto index = open_index();
    const ReleasedGil released;
    return index->contains(name);
  }

  nb::str metadata(const std::string& name) {
    const auto index = open_index();
    const std::string text = value([&] {
      const ReleasedGil released;
      return index->metadata(name);
    }());
    return nb::str(text.data(), text.size());
  }

  void sync() {
    const auto index = open_index();
    const Status done = [&] {
      const ReleasedGil released;
      return index->sync();
    }();
    check(done);
  }

  uint64_t verify() {
    const auto index = open_index();
    return value([&] {
      const ReleasedGil released;
      return index->verify();
    }());
  }

  nb::dict stats() {
    const auto index = open_index();
    const match::IndexStats stats = [&] {
      const ReleasedGil released;
      return index->stats();
    }();
    nb::dict out;
    out["patterns"] = stats.patterns;
    out["recent_patterns"] = stats.recent_patterns;
    out["removed_patterns"] = stats.removed_patterns;
    out["frequencies"] = stats.frequencies;
    out["symbols"] = stats.symbols;
    out["memory_bytes"] = stats.memory;
    out["segments"] = stats.segments;
    out["next_serial"] = stats.position.serial;
    out["next_change"] = stats.position.change;
    out["sort"] = stats.settings.sort;
    out["persistence"] = stats.settings.persistence;
    out["search_only"] = stats.search_only;
    out["syncs"] = stats.syncs;
    out["last_sync_seconds"] = stats.last_sync_seconds;
    out["last_sync_error"] = stats.last_sync_error;
    out["search_device"] = stats.search_device;
    return out;
  }

 private:
  std::shared_ptr<match::Index> open_index() {
    if (!index_) raise({ErrorCode::invalid_argument, "the index is closed"});
    return index_;
  }

  std::shared_ptr<match::Index> index_;  // under the interpreter's lock
  std::mutex bulk_mutex_;
};

match::IndexOptions options_of(const std::string& device, bool create, bool read_only,
                               bool search_only, bool sort, uint32_t persistence,
                               const std::string& durability, std::optional<uint64_t> max_memory,
                               uint32_t sync_patterns, uint32_t sync_seconds) {
  match::IndexOptions options;
  options.device = device;
  options.create = create;
  options.read_only = read_only;
  options.search_only = search_only;
  options.settings = {sort, persistence};
  if (durability != "batch" && durability != "sync") {
    raise({ErrorCode::invalid_argument, "no such durability: " + durability + " (batch, sync)"});
  }
  options.durability = durability == "sync" ? match::Durability::sync : match::Durability::batch;
  if (max_memory) options.max_memory = *max_memory;
  options.sync_patterns = sync_patterns;
  options.sync_interval = std::chrono::seconds(sync_seconds);
  return options;
}

match::RecordOptions record_options(double threshold, size_t max_predictions,
                                    const std::string& rank, double fuzzy, bool characters,
                                    bool whole_pattern_entropy, bool whole_ensemble) {
  match::RecordOptions options;
  options.threshold = threshold;
  options.max_predictions = max_predictions;
  const auto key = match::rank_key_named(rank);
  if (!key) raise({ErrorCode::invalid_argument, "no key to rank by: " + rank});
  options.rank = *key;
  options.fuzzy = fuzzy;
  options.characters = characters;
  options.whole_pattern_entropy = whole_pattern_entropy;
  options.whole_ensemble = whole_ensemble;
  return options;
}

}  // namespace

NB_MODULE(_index, module) {
  hoist::python::refuse_subinterpreters("hoist");
  // What threads still hold that end with the program, or that a child has not, is no leak of ours.
  nanobind::set_leak_warnings(false);
  hoist::python::watch_interpreters_end();
  define_hits(module);
  define_array_patterns(module);

  nb::class_<PythonIndex>(module, "Index")
      .def(nb::new_([](const std::string& path, const std::string& device, bool create,
                       bool read_only, bool search_only, bool sort, uint32_t persistence,
                       const std::string& durability, std::optional<uint64_t> max_memory,
                       uint32_t sync_patterns, uint32_t sync_seconds) {
             return std::make_unique<PythonIndex>(
                 path, options_of(device, create, read_only, search_only, sort, persistence,
                                  durability, max_memory, sync_patterns, sync_seconds));
           }),
           "path"_a, "device"_a, "create"_a, "read_only"_a, "search_only"_a, "sort"_a,
           "persistence"_a, "durability"_a, "max_memory"_a.none(), "sync_patterns"_a,
           "sync_seconds"_a)
      .def("close", &PythonIndex::close)
      .def("learn", &PythonIndex::learn, "events"_a, "name"_a, "frequency"_a, "emotives"_a.none(),
           "metadata"_a)
      .def("learn_many", &PythonIndex::learn_many, "patterns"_a, "names"_a.none(),
           "frequencies"_a.none(), "emotives"_a.none(), "metadata"_a.none())
      .def("learn_arrays", &PythonIndex::learn_arrays, "patterns"_a)
      .def(
          "predict",
          [](PythonIndex& index, const nb::object& state, double threshold, size_t max_predictions,
             const std::string& rank, double fuzzy, bool characters, const std::string& emotive,
             bool whole_pattern_entropy, bool whole_ensemble) {
            return index.predict(state,
                                 record_options(threshold, max_predictions, rank, fuzzy, characters,
                                                whole_pattern_entropy, whole_ensemble),
                                 emotive);
          },
          "state"_a, "threshold"_a, "max_predictions"_a, "rank"_a, "fuzzy"_a, "characters"_a,
          "affinity_emotive"_a, "whole_pattern_entropy"_a, "whole_ensemble"_a)
      .def("search", &PythonIndex::search, "states"_a, "scorer"_a, "threshold"_a, "top"_a)
      .def("patterns", &PythonIndex::patterns, "hits"_a, "state"_a, "begin"_a, "end"_a, "form"_a)
      .def("names", &PythonIndex::names, "ids"_a)
      .def("remove", &PythonIndex::remove, "name"_a)
      .def("contains", &PythonIndex::contains, "name"_a)
      .def("metadata", &PythonIndex::metadata, "name"_a)
      .def("sync", &PythonIndex::sync)
      .def("verify", &PythonIndex::verify)
      .def("stats", &PythonIndex::stats);
}

}  // namespace hoist::python
