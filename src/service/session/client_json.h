// JSON of clients: a document, parsed by simdjson, and views of its values.
//
//   JsonDocument document;
//   if (const auto fault = document.parse(text)) …
//   if (const auto name = document.root().find("name")) …
//
// Where an object has a key more than once, its last value counts.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "service/session/json_shape.h"

namespace hoist::service {

// A value: a view, for as long as its document has the text that it parsed last.
class ClientJson {
 public:
  class Items;
  using Members = std::vector<std::pair<std::string_view, ClientJson>>;

  explicit ClientJson(simdjson::dom::element element) : element_(element) {}

  bool is_null() const { return element_.is_null(); }
  bool is_array() const { return element_.is_array(); }
  bool is_object() const { return element_.is_object(); }
  bool is_string() const { return element_.is_string(); }

  // Nothing where it is of another kind.
  std::optional<std::string_view> string() const { return as<std::string_view>(); }
  std::optional<bool> boolean() const { return as<bool>(); }
  std::optional<double> number() const { return as<double>(); }
  // A number without a sign, a point and an exponent.
  std::optional<uint64_t> whole() const { return as<uint64_t>(); }

  Items items() const;      // of an array, else none
  Members members() const;  // of an object, ascending by key, each key once; else none
  std::optional<ClientJson> find(std::string_view key) const;

  // The value without the document, keys ascending.
  nlohmann::ordered_json copy() const;

 private:
  template <typename T>
  std::optional<T> as() const {
    T value = {};
    return element_.get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
  }

  simdjson::dom::element element_;
};

class ClientJson::Items {
 public:
  class Iterator {
   public:
    Iterator() = default;
    explicit Iterator(simdjson::dom::array::iterator at) : at_(at) {}
    ClientJson operator*() const { return ClientJson(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    simdjson::dom::array::iterator at_;
  };

  Items() = default;
  explicit Items(simdjson::dom::array array)
      : begin_(array.begin()), end_(array.end()), size_(array.size()) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  size_t size() const { return size_; }

 private:
  Iterator begin_, end_;
  size_t size_ = 0;
};

// Why a text is refused.
struct JsonFault {
  enum class Kind { shape, syntax, range };
  Kind kind = Kind::syntax;
  const char* shape = "";  // what is wrong with it (json_shape.h)
  size_t byte = 0;         // where it stops being JSON, from 1; one past its end
};

// Untrusted bytes: depth and memory are bounded (json_shape.h).
class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();
  JsonDocument(JsonDocument&& other) = default;
  JsonDocument& operator=(JsonDocument&& other) = delete;

  // `slack` bytes behind the text may be read: with enough of them it is parsed where it is.
  std::optional<JsonFault> parse(std::string_view text, size_t slack = 0,
                                 size_t most_values = kMostJsonValues);
  // After a parse() without a fault.
  ClientJson root() const { return ClientJson(root_); }

 private:
  std::optional<JsonFault> parse_slowly(std::string_view text, size_t most_values);

  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
};

}  // namespace hoist::service
