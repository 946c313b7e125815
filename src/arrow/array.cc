#include "arrow/array.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "arrow/buffer_value.h"

namespace hoist::arrow {
namespace {

bool is_width(int32_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

Error unsupported(const Field& field, std::string_view what) {
  return fail(ErrorCode::unsupported, fmt::format("{} is {}, which is not read", field.name, what));
}

bool is_text(Type type) {
  return type == Type::text || type == Type::large_text || type == Type::text_view;
}

}  // namespace

Status Array::check(const Field& field) {
  if (field.dictionary && (!is_text(field.type) || !is_width(field.dictionary->bits))) {
    return unsupported(field, fmt::format("a dictionary of {}", name(field.type)));
  }
  size_t children = 0;
  switch (field.type) {
    case Type::null:
    case Type::boolean:
    case Type::text:
    case Type::large_text:
    case Type::text_view:
      break;
    case Type::integer:
      if (!is_width(field.bits)) return unsupported(field, fmt::format("int{}", field.bits));
      break;
    case Type::real:
      if (field.precision != 1 && field.precision != 2) return unsupported(field, "halffloat");
      break;
    case Type::list:
    case Type::large_list:
    case Type::fixed_size_list:
    case Type::map:
      children = 1;
      break;
    case Type::structure:
      children = field.children.size();
      break;
    default:
      return unsupported(field, name(field.type));
  }
  const bool is_map = field.type == Type::map;
  if (field.children.size() != children || field.size < 0 ||
      (is_map && (field.children[0].type != Type::structure || field.children[0].dictionary ||
                  field.children[0].children.size() != 2))) {
    return fail(ErrorCode::corrupt, fmt::format("{} is no {}", field.name, name(field.type)));
  }
  for (const Field& child : field.children) {
    if (Status checked = check(child); !checked) return checked;
  }
  return {};
}

bool Array::is_null(int64_t i) const {
  if (field_->type == Type::null) return true;
  if (!validity_.empty()) {
    const auto byte = static_cast<unsigned char>(validity_[static_cast<size_t>(i / 8)]);
    if ((byte >> (i % 8) & 1) == 0) return true;
  }
  if (dictionary_ == nullptr) return false;
  const int64_t index = signed_integer(i);
  const Dictionary::Part& part = dictionary_->part(index);
  return part.values.is_null(index - part.begin);
}

int64_t Array::signed_integer(int64_t i) const {
  const int32_t bits = field_->dictionary ? field_->dictionary->bits : field_->bits;
  const bool is_signed = field_->dictionary ? field_->dictionary->is_signed : field_->is_signed;
  switch (bits) {
    case 8:
      return is_signed ? value_at<int8_t>(values_, i) : value_at<uint8_t>(values_, i);
    case 16:
      return is_signed ? value_at<int16_t>(values_, i) : value_at<uint16_t>(values_, i);
    case 32:
      return is_signed ? value_at<int32_t>(values_, i) : int64_t{value_at<uint32_t>(values_, i)};
    default:
      return value_at<int64_t>(values_, i);
  }
}

uint64_t Array::unsigned_integer(int64_t i) const {
  return static_cast<uint64_t>(signed_integer(i));
}

double Array::real(int64_t i) const {
  return field_->precision == 1 ? value_at<float>(values_, i) : value_at<double>(values_, i);
}

bool Array::boolean(int64_t i) const {
  return (static_cast<unsigned char>(values_[static_cast<size_t>(i / 8)]) >> (i % 8) & 1) != 0;
}

int64_t Array::offset(int64_t i) const {
  return has_wide_offsets_ ? value_at<int64_t>(offsets_, i) : value_at<int32_t>(offsets_, i);
}

// A view has its length, and up to 12 bytes; or their first four, a buffer's number and a place.
std::string_view Array::text(int64_t i) const {
  if (dictionary_ != nullptr) {
    const int64_t index = signed_integer(i);
    const Dictionary::Part& part = dictionary_->part(index);
    return part.values.text(index - part.begin);
  }
  if (field_->type == Type::text_view) {
    const auto size = static_cast<size_t>(value_at<int32_t>(values_, 4 * i));
    if (size <= 12) return values_.substr(static_cast<size_t>(16 * i + 4), size);
    const auto buffer = static_cast<size_t>(value_at<int32_t>(values_, 4 * i + 2));
    return view_data_[buffer].substr(static_cast<size_t>(value_at<int32_t>(values_, 4 * i + 3)),
                                     size);
  }
  const auto begin = static_cast<size_t>(offset(i));
  return values_.substr(begin, static_cast<size_t>(offset(i + 1)) - begin);
}

Items Array::items(int64_t i) const {
  if (field_->type == Type::fixed_size_list) return {i * field_->size, (i + 1) * field_->size};
  return {offset(i), offset(i + 1)};
}

int64_t Dictionary::length() const {
  return parts.empty() ? 0 : parts.back().begin + parts.back().values.length();
}

const Dictionary::Part& Dictionary::part(int64_t index) const {
  const auto after = std::upper_bound(
      parts.begin(), parts.end(), index,
      [](int64_t number, const Part& candidate) { return number < candidate.begin; });
  return *std::prev(after);
}

}  // namespace hoist::arrow
