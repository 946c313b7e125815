#include "arrow/array_loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "arrow/buffer_value.h"

namespace hoist::arrow {
namespace {

// Far more than memory; sums and products of lengths cannot overflow.
constexpr int64_t kMostLength = int64_t{1} << 40;

Error corrupt(const Field& field, std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("{}: {}", field.name, what));
}

// Buffers of an array's own; those behind views are counted apart.
size_t buffers_of(const Field& field, bool is_version4) {
  if (field.dictionary) return 2;
  switch (field.type) {
    case Type::null:
    case Type::run_end_encoded:
      return 0;
    case Type::structure:
    case Type::fixed_size_list:
      return 1;
    case Type::choice:
      return (field.is_dense ? 2 : 1) + (is_version4 ? 1 : 0);
    case Type::binary:
    case Type::text:
    case Type::large_binary:
    case Type::large_text:
    case Type::list_view:
    case Type::large_list_view:
      return 3;
    default:
      return 2;
  }
}

template <typename T>
bool are_ascending(std::string_view offsets, int64_t count, int64_t most) {
  T last = value_at<T>(offsets, 0);
  if (last < 0) return false;
  for (int64_t i = 1; i <= count; ++i) {
    const T next = value_at<T>(offsets, i);
    if (next < last) return false;
    last = next;
  }
  return last <= most;
}

}  // namespace

Result<NodeRecord> ArrayLoader::next_node() {
  if (node_ == head_.batch.nodes.size()) {
    return fail(ErrorCode::corrupt, "it has fewer arrays than the schema");
  }
  const NodeRecord node = head_.batch.nodes[node_++];
  if (node.length < 0 || node.length > kMostLength || node.nulls < 0 || node.nulls > node.length) {
    return fail(ErrorCode::corrupt, "an array's length is impossible");
  }
  return node;
}

Result<std::string_view> ArrayLoader::next_buffer() {
  if (buffer_ == head_.batch.buffers.size()) {
    return fail(ErrorCode::corrupt, "it has fewer buffers than the schema");
  }
  return body_.buffer(head_.batch.buffers[buffer_++]);
}

Status ArrayLoader::skip_buffers(size_t count) {
  if (head_.batch.buffers.size() - buffer_ < count) {
    return fail(ErrorCode::corrupt, "it has fewer buffers than the schema");
  }
  buffer_ += count;
  return {};
}

Result<size_t> ArrayLoader::next_view_buffers() {
  if (view_ == head_.batch.view_buffers.size()) {
    return fail(ErrorCode::corrupt, "it has fewer buffers of views than the schema");
  }
  const int64_t count = head_.batch.view_buffers[view_++];
  if (count < 0 || static_cast<uint64_t>(count) > head_.batch.buffers.size()) {
    return fail(ErrorCode::corrupt, "it has fewer buffers of views than it says");
  }
  return static_cast<size_t>(count);
}

Status ArrayLoader::skip(const Field& field) {
  const auto node = next_node();
  if (!node) return node.error();
  if (Status skipped = skip_buffers(buffers_of(field, head_.is_version4)); !skipped) return skipped;
  if (field.dictionary) return {};
  if (field.type == Type::text_view || field.type == Type::binary_view) {
    const auto count = next_view_buffers();
    return count ? skip_buffers(*count) : Status(count.error());
  }
  for (const Field& child : field.children) {
    if (Status skipped = skip(child); !skipped) return skipped;
  }
  return {};
}

Result<Array> ArrayLoader::load(const Field& field) {
  Array array;
  array.field_ = &field;
  const auto node = next_node();
  if (!node) return node.error();
  array.length_ = node->length;
  if (field.type == Type::null && !field.dictionary) return array;
  const auto validity = next_buffer();
  if (!validity) return validity.error();
  if (node->nulls > 0) {
    if (static_cast<int64_t>(validity->size()) < (node->length + 7) / 8) {
      return corrupt(field, "it does not say which values are null");
    }
    array.validity_ = *validity;
  }
  if (Status loaded = load_values(array); !loaded) return loaded.error();
  return array;
}

Status ArrayLoader::load_values(Array& array) {
  const Field& field = *array.field_;
  if (field.dictionary) return load_indices(array);
  switch (field.type) {
    case Type::boolean:
      return load_fixed_width(array, 1);
    case Type::integer:
      return load_fixed_width(array, field.bits);
    case Type::real:
      return load_fixed_width(array, field.precision == 1 ? 32 : 64);
    case Type::text:
    case Type::large_text:
      return load_texts(array);
    case Type::text_view:
      return load_views(array);
    case Type::structure:
      return load_children(array);
    case Type::list:
    case Type::large_list:
    case Type::map:
      if (Status loaded = load_offsets(array, field.type == Type::large_list); !loaded) {
        return loaded;
      }
      return load_children(array);
    case Type::fixed_size_list:
      return load_children(array);
    default:  // Array::check() refuses them
      return corrupt(field, "its type is not read");
  }
}

Status ArrayLoader::load_fixed_width(Array& array, int64_t bits) {
  const auto values = next_buffer();
  if (!values) return values.error();
  if (static_cast<int64_t>(values->size()) < (array.length_ * bits + 7) / 8) {
    return corrupt(*array.field_, "it has fewer values than it says");
  }
  array.values_ = *values;
  return {};
}

Status ArrayLoader::load_indices(Array& array) {
  const DictionaryEncoding& encoding = *array.field_->dictionary;
  if (Status loaded = load_fixed_width(array, encoding.bits); !loaded) return loaded;
  const Dictionary& dictionary = dictionaries_.at(encoding.id);
  const int64_t entries = dictionary.length();
  for (int64_t i = 0; i < array.length_; ++i) {
    if (array.is_null(i)) continue;  // before it has a dictionary: of the index
    const int64_t index = array.signed_integer(i);
    if (index < 0 || index >= entries) {
      return corrupt(*array.field_, "an index is beyond its dictionary");
    }
  }
  array.dictionary_ = &dictionary;
  return {};
}

// An array of no values may have no offsets.
Status ArrayLoader::load_offsets(Array& array, bool are_wide) {
  const auto offsets = next_buffer();
  if (!offsets) return offsets.error();
  const int64_t width = are_wide ? 8 : 4;
  if (array.length_ > 0 && static_cast<int64_t>(offsets->size()) < (array.length_ + 1) * width) {
    return corrupt(*array.field_, "it has fewer offsets than it says");
  }
  array.offsets_ = *offsets;
  array.has_wide_offsets_ = are_wide;
  return {};
}

Status ArrayLoader::load_texts(Array& array) {
  const bool are_wide = array.field_->type == Type::large_text;
  if (Status loaded = load_offsets(array, are_wide); !loaded) return loaded;
  const auto bytes = next_buffer();
  if (!bytes) return bytes.error();
  array.values_ = *bytes;
  if (array.length_ == 0) return {};
  const auto most = static_cast<int64_t>(bytes->size());
  const bool are_right = are_wide ? are_ascending<int64_t>(array.offsets_, array.length_, most)
                                  : are_ascending<int32_t>(array.offsets_, array.length_, most);
  return are_right ? Status() : corrupt(*array.field_, "its offsets are wrong");
}

Status ArrayLoader::load_views(Array& array) {
  if (Status loaded = load_fixed_width(array, 128); !loaded) return loaded;
  const auto count = next_view_buffers();
  if (!count) return count.error();
  for (size_t i = 0; i < *count; ++i) {
    const auto data = next_buffer();
    if (!data) return data.error();
    array.view_data_.push_back(*data);
  }
  for (int64_t i = 0; i < array.length_; ++i) {
    if (array.is_null(i)) continue;
    const auto size = value_at<int32_t>(array.values_, 4 * i);
    if (size >= 0 && size <= 12) continue;
    const auto buffer = value_at<int32_t>(array.values_, 4 * i + 2);
    const auto begin = value_at<int32_t>(array.values_, 4 * i + 3);
    const bool has_buffer = buffer >= 0 && static_cast<size_t>(buffer) < *count;
    if (size < 0 || begin < 0 || !has_buffer ||
        int64_t{begin} + size >
            static_cast<int64_t>(array.view_data_[static_cast<size_t>(buffer)].size())) {
      return corrupt(*array.field_, "a view is beyond its buffer");
    }
  }
  return {};
}

Status ArrayLoader::load_children(Array& array) {
  const Field& field = *array.field_;
  int64_t shortest = kMostLength;
  for (const Field& child : field.children) {
    auto loaded = load(child);
    if (!loaded) return loaded.error();
    shortest = std::min(shortest, loaded->length());
    array.children_.push_back(*std::move(loaded));
  }
  if (array.length_ == 0) return {};
  bool is_enough = true;
  switch (field.type) {
    case Type::structure:
      is_enough = field.children.empty() || shortest >= array.length_;
      break;
    case Type::fixed_size_list:
      is_enough = field.size == 0 || shortest / field.size >= array.length_;
      break;
    case Type::large_list:
      is_enough = are_ascending<int64_t>(array.offsets_, array.length_, shortest);
      break;
    default:
      is_enough = are_ascending<int32_t>(array.offsets_, array.length_, shortest);
      break;
  }
  return is_enough ? Status() : corrupt(field, "its offsets are wrong");
}

}  // namespace hoist::arrow
