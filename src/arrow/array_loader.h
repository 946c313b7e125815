// Arrays of the buffers of a batch that somebody else wrote. What a loaded array's functions rely
// on is checked here: sizes, ascending offsets, indices; in time linear in the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "arrow/array.h"
#include "arrow/body.h"
#include "arrow/metadata_read.h"
#include "base/result.h"

namespace hoist::arrow {

// By id. One that no message filled yet is there, and empty.
using Dictionaries = std::map<int64_t, Dictionary>;

class ArrayLoader {
 public:
  // All of them outlive the arrays.
  ArrayLoader(const MessageHead& head, Body& body, const Dictionaries& dictionaries)
      : head_(head), body_(body), dictionaries_(dictionaries) {}

  // Columns are loaded or skipped in the schema's order.
  Result<Array> load(const Field& field);
  Status skip(const Field& field);

 private:
  Result<NodeRecord> next_node();
  Result<std::string_view> next_buffer();
  Status skip_buffers(size_t count);
  Result<size_t> next_view_buffers();

  Status load_values(Array& array);
  Status load_indices(Array& array);
  Status load_fixed_width(Array& array, int64_t bits);
  Status load_offsets(Array& array, bool are_wide);
  Status load_texts(Array& array);
  Status load_views(Array& array);
  Status load_children(Array& array);

  const MessageHead& head_;
  Body& body_;
  const Dictionaries& dictionaries_;
  size_t node_ = 0;
  size_t buffer_ = 0;
  size_t view_ = 0;
};

}  // namespace hoist::arrow
