// An array of a record batch, as a reader has it: views of the batch's memory, which were checked.
//
//   const auto [begin, end] = array.items(i);
//   for (int64_t k = begin; k < end; ++k) use(array.child().text(k));
//
// Each function is for the types that its comment names, and for an i below `length()` that is not
// null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "arrow/body.h"
#include "arrow/schema.h"
#include "base/result.h"

namespace hoist::arrow {

struct Dictionary;

struct Items {
  int64_t begin = 0;
  int64_t end = 0;
};

class Array {
 public:
  // Whether arrays of the field, and of all in it, can be loaded: else `unsupported` says which.
  static Status check(const Field& field);

  const Field& field() const { return *field_; }
  int64_t length() const { return length_; }
  bool is_null(int64_t i) const;

  // integer
  int64_t signed_integer(int64_t i) const;
  uint64_t unsigned_integer(int64_t i) const;
  double real(int64_t i) const;   // real
  bool boolean(int64_t i) const;  // boolean
  // text, large_text, text_view. Of a dictionary's, too. It may be no UTF-8.
  std::string_view text(int64_t i) const;
  // list, large_list, fixed_size_list, map: which of the child's values it has.
  Items items(int64_t i) const;
  // What lists hold; a map's entries, which are structures of a key and a value.
  const Array& child(size_t number = 0) const { return children_[number]; }
  const std::vector<Array>& children() const { return children_; }
  // Memory of its lists, but for its children's.
  size_t own_bytes() const { return view_data_.capacity() * sizeof(std::string_view); }

 private:
  friend class ArrayLoader;

  int64_t offset(int64_t i) const;

  const Field* field_ = nullptr;
  int64_t length_ = 0;
  std::string_view validity_;  // empty: all are valid
  std::string_view offsets_;   // of texts, lists
  std::string_view values_;    // numbers, bits, bytes of texts, views, indices of a dictionary
  bool has_wide_offsets_ = false;
  std::vector<std::string_view> view_data_;
  std::vector<Array> children_;
  const Dictionary* dictionary_ = nullptr;
};

// The entries of a dictionary, which may come in parts.
struct Dictionary {
  struct Part {
    int64_t begin = 0;
    std::unique_ptr<Body> body;
    Array values;

    // Memory of it: many small parts take more than what is in them. A vector's room doubles.
    size_t bytes() const {
      return 2 * sizeof *this + sizeof *body + body->bytes() + values.own_bytes();
    }
  };
  Field field;  // of the values
  std::vector<Part> parts;

  int64_t length() const;
  const Part& part(int64_t index) const;
};

}  // namespace hoist::arrow
