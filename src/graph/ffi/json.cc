#include "graph/ffi/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace hoist::graph::ffi {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a number that no double holds is too large rather than too small: by the decimal place of
// its first digit that is not 0.
bool is_too_large(std::string_view number) {
  const size_t end = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, end);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  int64_t exponent = 0;
  if (end < number.size()) {
    const size_t begin = end + (number[end + 1] == '+' ? 2 : 1);
    const auto [last, failed] =
        std::from_chars(number.data() + begin, number.data() + number.size(), exponent);
    if (failed != std::errc{}) return number[begin] != '-';
  }
  return exponent > first - point;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  // Calls `element` at the beginning of each; it goes over the element, or fails.
  template <typename Element>
  Status array(const Element& element) {
    skip_space();
    if (!take('[')) return error("expected an array");
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        if (Status ok = element(); !ok) return ok;
        skip_space();
      } while (take(','));
      if (!take(']')) return error("expected ',' or ']'");
    }
    skip_space();
    return at_ == text_.size() ? Status{} : error("trailing characters");
  }

  Result<float> number() {
    const size_t begin = at_;
    const bool is_negative = take('-');
    const float sign = is_negative ? -1.0f : 1.0f;
    if (take_word("Infinity")) return sign * std::numeric_limits<float>::infinity();
    if (!is_negative && take_word("NaN")) return std::numeric_limits<float>::quiet_NaN();
    if (!digits_of_integer()) return error("expected a number").error();
    if (take('.') && !digits()) return error("expected a digit after '.'").error();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return error("expected the exponent's digits").error();
    }
    double value = 0;
    const auto [end, failed] = std::from_chars(text_.data() + begin, text_.data() + at_, value);
    if (failed == std::errc::result_out_of_range) {
      const std::string_view number = text_.substr(begin, at_ - begin);
      value = is_too_large(number) ? std::numeric_limits<double>::infinity() : 0.0;
      if (is_negative) value = -value;
    }
    return static_cast<float>(value);
  }

  Result<uint64_t> size() {
    const size_t begin = at_;
    uint64_t value = 0;
    if (!digits_of_integer()) return error("expected a whole number, 0 or more").error();
    const auto [end, failed] = std::from_chars(text_.data() + begin, text_.data() + at_, value);
    if (failed != std::errc{} || value > uint64_t{1} << 60)
      return error("number too large").error();
    return value;
  }

 private:
  Status error(const char* expected) const {
    return fail(ErrorCode::corrupt, "Failed to parse " + std::string(what_) + ": " + expected +
                                        " at character " + std::to_string(at_ + 1));
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }
  // No zeros in front.
  bool digits_of_integer() {
    if (take('0')) return at_ == text_.size() || !is_digit(text_[at_]);
    return digits();
  }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  const std::string_view text_;
  const std::string_view what_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<float>> read_floats(std::string_view json, std::string_view what) {
  Reader reader(json, what);
  std::vector<float> values;
  const Status read = reader.array([&]() -> Status {
    const Result<float> value = reader.number();
    if (!value) return value.error();
    values.push_back(*value);
    return {};
  });
  if (!read) return read.error();
  return values;
}

std::string write_floats(std::span<const float> values) {
  std::string json = "[";
  json.reserve(values.size() * 8 + 2);
  for (const float value : values) {
    if (json.size() > 1) json += ',';
    if (std::isnan(value)) {
      json += "NaN";
    } else if (std::isinf(value)) {
      json += value < 0 ? "-Infinity" : "Infinity";
    } else {
      char text[32];
      const auto [end, failed] = std::to_chars(text, text + sizeof(text), value);
      const std::string_view written(text, static_cast<size_t>(end - text));
      json += written;
      if (written.find_first_of(".e") == std::string_view::npos) json += ".0";
    }
  }
  return json += ']';
}

Result<std::vector<uint64_t>> read_sizes(std::string_view json, std::string_view what) {
  Reader reader(json, what);
  std::vector<uint64_t> sizes;
  const Status read = reader.array([&]() -> Status {
    const Result<uint64_t> size = reader.size();
    if (!size) return size.error();
    sizes.push_back(*size);
    return {};
  });
  if (!read) return read.error();
  return sizes;
}

std::string write_sizes(std::span<const uint64_t> sizes) {
  std::string json = "[";
  for (const uint64_t size : sizes) {
    if (json.size() > 1) json += ',';
    json += std::to_string(size);
  }
  return json += ']';
}

}  // namespace hoist::graph::ffi
