// Patterns in NumPy arrays and in Arrow's C data interface
// (https://arrow.apache.org/docs/format/CDataInterface.html) for Index.learn_arrays and
// learn_arrow.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstring>
#include <optional>
#include <utility>

#include "python/arrow_c.h"
#include "python/errors.h"
#include "python/match_bulk.h"
#include "python/match_events.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using IntegerArray = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FrequencyArray = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Array>
auto vector_of(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  return std::vector<T>(array.data(), array.data() + array.size());
}

// Integers: places in a vocabulary, or symbols themselves, in decimal.
class IntegerSymbols : public ArrayPatterns::Symbols {
 public:
  IntegerSymbols(IntegerArray symbols, const nb::object& vocabulary)
      : array_(std::move(symbols)), has_vocabulary_(!vocabulary.is_none()) {
    if (!has_vocabulary_) return;
    const nb::tuple texts = tuple_of(vocabulary, "a list of symbols");
    for (const nb::handle text : texts) {
      check_signals(vocabulary_.size());
      vocabulary_.emplace_back(text_of(text));
    }
  }

  uint64_t size() const override { return array_.size(); }
  Result<std::string_view> at(uint64_t place, std::string& scratch) const override {
    const int64_t symbol = array_.data()[place];
    if (!has_vocabulary_) return std::string_view(scratch = std::to_string(symbol));
    if (symbol < 0 || static_cast<uint64_t>(symbol) >= vocabulary_.size()) {
      return fail(ErrorCode::invalid_argument, "symbol " + std::to_string(symbol) +
                                                   " of a vocabulary of " +
                                                   std::to_string(vocabulary_.size()));
    }
    return std::string_view(vocabulary_[static_cast<size_t>(symbol)]);
  }

 private:
  IntegerArray array_;
  bool has_vocabulary_;
  std::vector<std::string> vocabulary_;
};

std::unique_ptr<ArrayPatterns> of_arrays(IntegerArray symbols, const IntegerArray& offsets,
                                         const std::optional<IntegerArray>& event_offsets,
                                         const nb::object& vocabulary,
                                         const std::optional<FrequencyArray>& frequencies) {
  return std::make_unique<ArrayPatterns>(
      std::make_unique<IntegerSymbols>(std::move(symbols), vocabulary), vector_of(offsets),
      event_offsets ? vector_of(*event_offsets) : std::vector<int64_t>(), event_offsets.has_value(),
      frequencies ? vector_of(*frequencies) : std::vector<uint32_t>());
}

[[noreturn]] void unsupported(const std::string& what) {
  raise({ErrorCode::unsupported, "Arrow: " + what});
}

// One level of a nested array: how it is typed, and its values.
struct Level {
  const ArrowSchema* schema;
  const ArrowArray* array;

  std::string_view format() const { return schema->format; }
  bool is_list() const { return format() == "+l" || format() == "+L"; }
  bool is_text() const { return format() == "u" || format() == "U"; }
  Level child() const { return {schema->children[0], array->children[0]}; }

  void check_no_nulls() const {
    if (array->null_count == 0 || array->n_buffers == 0 || array->buffers[0] == nullptr) return;
    const auto* const valid = static_cast<const uint8_t*>(array->buffers[0]);
    for (int64_t i = array->offset; i < array->offset + array->length; ++i) {
      if ((valid[i / 8] >> (i % 8) & 1) == 0) unsupported("nulls in patterns");
    }
  }

  // length + 1 offsets, of lists and texts.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> out(static_cast<size_t>(array->length) + 1);
    if (array->length == 0) return out;
    const bool wide = format() == "+L" || format() == "U";
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<size_t>(array->offset) + i;
      out[i] = wide ? static_cast<const int64_t*>(array->buffers[1])[at]
                    : int64_t{static_cast<const int32_t*>(array->buffers[1])[at]};
    }
    return out;
  }

  std::vector<int64_t> integers() const {
    std::vector<int64_t> out(static_cast<size_t>(array->length));
    const auto read = [&]<typename T>(T) {
      const T* const values = static_cast<const T*>(array->buffers[1]) + array->offset;
      for (size_t i = 0; i < out.size(); ++i) {
        if (!std::in_range<int64_t>(values[i])) unsupported("integers above 2^63 - 1");
        out[i] = static_cast<int64_t>(values[i]);
      }
    };
    if (out.empty()) return out;
    switch (format().size() == 1 ? format()[0] : '\0') {
      case 'c':
        read(int8_t{});
        break;
      case 'C':
        read(uint8_t{});
        break;
      case 's':
        read(int16_t{});
        break;
      case 'S':
        read(uint16_t{});
        break;
      case 'i':
        read(int32_t{});
        break;
      case 'I':
        read(uint32_t{});
        break;
      case 'l':
        read(int64_t{});
        break;
      case 'L':
        read(uint64_t{});
        break;
      default:
        unsupported("symbols of the type " + std::string(format()));
    }
    return out;
  }
};

// Texts, by way of a dictionary where there is one, or integers in decimal.
class ArrowSymbols : public ArrayPatterns::Symbols {
 public:
  // `keeps` lives as long as the arrays do.
  ArrowSymbols(const Level& level, nb::object keeps) : keeps_(std::move(keeps)) {
    level.check_no_nulls();
    size_ = static_cast<uint64_t>(level.array->length);
    if (level.schema->dictionary != nullptr) {
      numbers_ = level.integers();
      const Level dictionary = {level.schema->dictionary, level.array->dictionary};
      if (!dictionary.is_text()) unsupported("a dictionary of other values than texts");
      dictionary.check_no_nulls();
      read_texts(dictionary);
      has_numbers_ = true;
    } else if (level.is_text()) {
      read_texts(level);
    } else {
      numbers_ = level.integers();
      has_numbers_ = true;
    }
  }

  uint64_t size() const override { return size_; }
  Result<std::string_view> at(uint64_t place, std::string& scratch) const override {
    if (!has_numbers_) return text(place);
    const int64_t number = numbers_[place];
    if (!has_texts_) return std::string_view(scratch = std::to_string(number));
    if (number < 0 || static_cast<size_t>(number) + 1 >= ends_.size()) {
      return fail(ErrorCode::invalid_argument, "Arrow: an index beyond its dictionary");
    }
    return text(static_cast<uint64_t>(number));
  }

 private:
  void read_texts(const Level& level) {
    ends_ = level.offsets();
    data_ = static_cast<const char*>(level.array->buffers[2]);
    has_texts_ = true;
  }
  Result<std::string_view> text(uint64_t i) const {
    if (ends_[i] < 0 || ends_[i + 1] < ends_[i]) {
      return fail(ErrorCode::invalid_argument, "Arrow: offsets that do not ascend");
    }
    return std::string_view(data_ + ends_[i], static_cast<size_t>(ends_[i + 1] - ends_[i]));
  }

  nb::object keeps_;
  uint64_t size_ = 0;
  bool has_numbers_ = false;
  bool has_texts_ = false;
  std::vector<int64_t> numbers_;
  std::vector<int64_t> ends_;
  const char* data_ = nullptr;
};

void* pointer_of(nb::handle capsule, const char* name) {
  void* const it = PyCapsule_GetPointer(capsule.ptr(), name);
  if (it == nullptr) throw nb::python_error();
  return it;
}

// A list of texts a pattern, or a list of lists of texts. `keeps` lives as long as the arrays do.
std::unique_ptr<ArrayPatterns> of_level(const Level& patterns, const nb::object& keeps) {
  if (patterns.schema->release == nullptr || patterns.array->release == nullptr) {
    raise({ErrorCode::invalid_argument, "Arrow: an array that was taken over already"});
  }
  if (!patterns.is_list()) unsupported("patterns are lists of texts or of lists of texts");
  patterns.check_no_nulls();
  const Level inner = patterns.child();
  const bool has_events = inner.is_list();
  std::vector<int64_t> event_offsets;
  if (has_events) {
    inner.check_no_nulls();
    event_offsets = inner.offsets();
  }
  const Level symbols = has_events ? inner.child() : inner;
  return std::make_unique<ArrayPatterns>(std::make_unique<ArrowSymbols>(symbols, keeps),
                                         patterns.offsets(), std::move(event_offsets), has_events,
                                         std::vector<uint32_t>());
}

std::unique_ptr<ArrayPatterns> of_arrow(const nb::object& capsules) {
  const auto pair = nb::cast<nb::tuple>(capsules);
  const nb::object schema(pair[0]);
  const nb::object array(pair[1]);
  return of_level({static_cast<const ArrowSchema*>(pointer_of(schema, "arrow_schema")),
                   static_cast<const ArrowArray*>(pointer_of(array, "arrow_array"))},
                  capsules);
}

// A structure that a stream fills in, released with the capsule.
template <typename Structure>
nb::capsule released_with_capsule(Structure*& out) {
  out = new Structure{};
  return {out, [](void* pointer) noexcept {
            auto* const structure = static_cast<Structure*>(pointer);
            if (structure->release != nullptr) structure->release(structure);
            delete structure;
          }};
}

// The patterns of each of a stream's arrays.
nb::list of_arrow_stream(const nb::object& capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(pointer_of(capsule, "arrow_array_stream"));
  if (stream->release == nullptr) {
    raise({ErrorCode::invalid_argument, "Arrow: a stream that was taken over already"});
  }
  const auto check_code = [&](int code) {
    if (code == 0) return;
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    const char* const message = stream->get_last_error(stream);
    raise({ErrorCode::invalid_argument,
           "Arrow: " + std::string(message != nullptr ? message : "the stream failed")});
  };
  ArrowSchema* schema = nullptr;
  const nb::capsule kept_schema = released_with_capsule(schema);
  check_code(stream->get_schema(stream, schema));
  nb::list out;
  while (true) {
    check_signals(0);
    ArrowArray* array = nullptr;
    const nb::capsule kept_array = released_with_capsule(array);
    check_code([&] {
      const ReleasedGil released;  // its maker may have threads that want it
      return stream->get_next(stream, array);
    }());
    if (array->release == nullptr) return out;
    out.append(nb::cast(of_level({schema, array}, nb::make_tuple(kept_schema, kept_array))));
  }
}

}  // namespace

void define_array_patterns(nb::module_& module) {
  nb::class_<ArrayPatterns>(module, "ArrayPatterns")
      .def_static("of_arrays", &of_arrays, "symbols"_a, "offsets"_a, "event_offsets"_a.none(),
                  "vocabulary"_a.none(), "frequencies"_a.none())
      .def_static("of_arrow", &of_arrow, "capsules"_a)
      .def_static("of_arrow_stream", &of_arrow_stream, "capsule"_a);
}

}  // namespace hoist::python
