#include "graph/text/constants.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/program/element_casts.h"
#include "graph/program/move.h"
#include "graph/text/names.h"
#include "graph/text/program_text.h"

namespace hoist::graph::text {
namespace {

using program::DType;
using program::Lanes;
using program::Values;

constexpr std::string_view kHex = "hex";
constexpr std::string_view kDigits = "0123456789abcdef";

// Calls `with` with the type of lanes: float, double, int64_t, or uint64_t for u64.
template <typename With>
auto with_lanes(DType dtype, const With& with) {
  switch (program::lanes_of(dtype)) {
    case Lanes::f32:
      return with(float());
    case Lanes::f64:
      return with(double());
    case Lanes::i64:
      return with(int64_t());
    case Lanes::u64:
      break;
  }
  return with(uint64_t());
}

template <typename Float>
using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;

// A NaN that is not the usual one is written with its bits: nan.ffc00000.
template <typename Float>
std::string float_text(Float value) {
  if (!std::isnan(value)) return fmt::format("{}", value);
  const auto bits = std::bit_cast<Bits<Float>>(value);
  const auto usual = std::bit_cast<Bits<Float>>(std::numeric_limits<Float>::quiet_NaN());
  return bits == usual ? "nan" : fmt::format("nan.{:0{}x}", bits, 2 * sizeof(Float));
}

template <typename Lane>
std::string value_text(Lane value, DType dtype) {
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  if constexpr (std::is_floating_point_v<Lane>) {
    return float_text(value);
  } else {
    return std::to_string(value);
  }
}

// The whole of `text`.
template <typename Number, typename... Base>
std::optional<Number> number_of(std::string_view text, Base... base) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, value, base...);
  if (text.empty() || fault != std::errc() || end != last) return std::nullopt;
  return value;
}

template <typename Float>
std::optional<Float> float_of(std::string_view text) {
  using Limits = std::numeric_limits<Float>;
  if (text == "nan") return Limits::quiet_NaN();
  if (text == "inf") return Limits::infinity();
  if (text == "-inf") return -Limits::infinity();
  if (text.starts_with("nan.")) {
    const auto bits = number_of<Bits<Float>>(text.substr(4), 16);
    if (text.size() != 4 + 2 * sizeof(Float) || !bits) return std::nullopt;
    const auto value = std::bit_cast<Float>(*bits);
    return std::isnan(value) ? std::optional(value) : std::nullopt;
  }
  const std::optional<Float> value = number_of<Float>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Rounded to a float's type; integers must be of theirs.
template <typename Lane>
std::optional<Lane> value_of(std::string_view text, DType dtype) {
  if constexpr (std::is_floating_point_v<Lane>) {
    if (dtype == DType::boolean) {
      if (text == "true") return Lane{1};
      return text == "false" ? std::optional(Lane{0}) : std::nullopt;
    }
    if (dtype != DType::f16 && dtype != DType::bf16) return float_of<Lane>(text);
    const auto rounded = [&](auto value) -> std::optional<Lane> {
      if (!value) return std::nullopt;
      return dtype == DType::f16 ? program::rounded_f16(*value) : program::rounded_bf16(*value);
    };
    // Bits of a NaN are those of f32, of which the type has the upper ones.
    return text.starts_with("nan") ? rounded(float_of<float>(text))
                                   : rounded(float_of<double>(text));
  } else {
    const std::optional<Lane> value = number_of<Lane>(text);
    if (!value || program::is_lane_type(dtype)) return value;
    uint64_t narrow = 0;
    Lane back = 0;
    program::narrow(dtype, &*value, 1, &narrow);
    program::widen(dtype, &narrow, 1, &back);
    return back == *value ? value : std::nullopt;
  }
}

std::string hex_text(const program::Node& constant) {
  const size_t count = constant.values->size();
  std::vector<std::byte> bytes(count * program::bytes_of(constant.dtype));
  program::narrow(constant.dtype, constant.values->bytes(), count, bytes.data());
  std::string text(kHex);
  text.reserve(text.size() + 1 + 2 * bytes.size());
  text += ' ';
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<size_t>(byte) >> 4];
    text += kDigits[static_cast<size_t>(byte) & 15];
  }
  return text;
}

std::shared_ptr<const Values> read_hex(LineReader& reader, DType dtype, size_t count) {
  const std::string_view digits = reader.word();
  const px::Span span = reader.last();
  const size_t size = count * program::bytes_of(dtype);
  if (digits.size() != 2 * size) {
    reader.error(span, fmt::format("{} hexadecimal digits for {} bytes", digits.size(), size),
                 "two for each byte of the array, in the order of memory (little-endian)");
    return nullptr;
  }
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t digit = kDigits.find(digits[i]);
    if (digit == std::string_view::npos) {
      const auto at = span.begin + static_cast<uint32_t>(i);
      reader.error({at, at + 1}, "this is no hexadecimal digit", "digits are 0 to 9 and a to f");
      return nullptr;
    }
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4 | digit);
    if (dtype == DType::boolean && bytes[i / 2] > 1) {
      const auto at = span.begin + static_cast<uint32_t>(i);
      reader.error({at, at + 1}, "a boolean that is neither 00 nor 01", "write 01 for true");
      return nullptr;
    }
  }
  auto values = std::make_shared<Values>(program::lanes_of(dtype), count);
  program::widen(dtype, bytes.data(), count, values->bytes());
  return values;
}

template <typename Lane>
bool read_numbers(LineReader& reader, DType dtype, size_t count, Lane* values) {
  const bool is_list = count != 1;
  if (is_list && !reader.expect('[', "[", "values stand in brackets: [1, 2]")) return false;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && !reader.expect(',', ",", fmt::format("{} values are needed", count))) return false;
    const std::string_view word = reader.number_word();
    const std::optional<Lane> value = value_of<Lane>(word, dtype);
    if (!value) {
      const px::Span span = word.empty() ? reader.here() : reader.last();
      reader.error(span, fmt::format("no value of {}", type_name(dtype)),
                   "such as 1, -0.5, 1e-05, inf, nan; true and false for bool");
      return false;
    }
    values[i] = *value;
  }
  return !is_list || reader.expect(']', "]", fmt::format("{} values are needed", count));
}

}  // namespace

std::string constant_text(const program::Node& constant) {
  const size_t count = constant.values->size();
  if (count > kMostNumbers) return hex_text(constant);
  return with_lanes(constant.dtype, [&](auto lane) {
    const auto* const values = static_cast<const decltype(lane)*>(constant.values->bytes());
    if (count == 1) return value_text(values[0], constant.dtype);
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + value_text(values[i], constant.dtype);
    }
    return text + "]";
  });
}

std::shared_ptr<const Values> read_constant(LineReader& reader, DType dtype,
                                            const program::Extents& shape) {
  const auto count = static_cast<size_t>(program::element_count(shape));
  // Each value takes a character at least: no more memory than the line is long.
  if (count > kMostBytes) {
    reader.error(reader.here(), fmt::format("{} values in one constant", count),
                 "broadcast a smaller constant");
    return nullptr;
  }
  const uint32_t begin = reader.place();
  if (reader.word() == kHex) return read_hex(reader, dtype, count);
  reader.go_to(begin);
  if (count > reader.find(':') - begin) {
    reader.error(reader.here(), fmt::format("fewer values than {}", count),
                 "as many as the shape has elements");
    return nullptr;
  }
  auto values = std::make_shared<Values>(program::lanes_of(dtype), count);
  const bool is_read = with_lanes(dtype, [&](auto lane) {
    return read_numbers(reader, dtype, count, static_cast<decltype(lane)*>(values->bytes()));
  });
  return is_read ? values : nullptr;
}

}  // namespace hoist::graph::text
