#include "codec/planes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codec/planes_kernels.h"

namespace hoist::codec {
namespace {

using planes_detail::Kernels;

// Elements of 2 and 4 bytes become bit planes by way of their byte planes, one tile at a time.
constexpr size_t kTile = 4096;
constexpr size_t kMaxWidth = 8;

const Kernels& best() {
  static const Kernels& kernels = planes_detail::kernels().front();
  return kernels;
}

template <typename Byte>
std::array<Byte*, kMaxWidth> planes_at(Byte* first, size_t count, size_t stride) {
  std::array<Byte*, kMaxWidth> planes{};
  for (size_t i = 0; i < count; ++i) planes[i] = first + i * stride;
  return planes;
}

bool is_byte_width(size_t width) { return width == 2 || width == 4 || width == 8; }
size_t kernel_index(size_t width) { return static_cast<size_t>(std::countr_zero(width)) - 1; }

void split_all(const std::byte* elements, size_t width, size_t count, std::byte* const* planes) {
  for (size_t i = best().split_bytes[kernel_index(width)](elements, count, planes); i < count;
       ++i) {
    for (size_t b = 0; b < width; ++b) planes[b][i] = elements[i * width + b];
  }
}

void merge_all(const std::byte* const* planes, size_t width, size_t count, std::byte* elements) {
  for (size_t i = best().merge_bytes[kernel_index(width)](planes, count, elements); i < count;
       ++i) {
    for (size_t b = 0; b < width; ++b) elements[i * width + b] = planes[b][i];
  }
}

// One byte plane <-> its eight bit planes.
void split_bits_of_bytes(const std::byte* bytes, size_t count, std::byte* const* planes) {
  const size_t done = best().split_bits(bytes, count / 8, planes);
  for (size_t i = done; i < bit_plane_bytes(count); ++i) {
    for (size_t b = 0; b < 8; ++b) {
      std::byte packed{0};
      for (size_t k = 0; k < std::min<size_t>(8, count - 8 * i); ++k) {
        packed |= ((bytes[8 * i + k] >> b) & std::byte{1}) << k;
      }
      planes[b][i] = packed;
    }
  }
}

void merge_bits_of_bytes(const std::byte* const* planes, size_t count, std::byte* bytes) {
  const size_t done = best().merge_bits(planes, count / 8, bytes);
  for (size_t i = 8 * done; i < count; ++i) {
    std::byte value{0};
    for (size_t b = 0; b < 8; ++b) value |= ((planes[b][i / 8] >> (i % 8)) & std::byte{1}) << b;
    bytes[i] = value;
  }
}

Status check_bytes(size_t width, size_t elements, size_t planes) {
  if (!is_byte_width(width)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("byte planes: elements of {} bytes: 2, 4 and 8 are possible", width));
  }
  if (elements != planes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("byte planes: {} bytes of elements, {} of planes: must be the same",
                            elements, planes));
  }
  return {};
}

Status check_bits(size_t width, size_t elements, size_t planes) {
  if (width != 1 && width != 2 && width != 4) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("bit planes: elements of {} bytes: 1, 2 and 4 are possible", width));
  }
  if (elements % width != 0 || planes != 8 * width * bit_plane_bytes(elements / width)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("bit planes: {} bytes of elements of {} bytes, {} of planes", elements,
                            width, planes));
  }
  return {};
}

Status check_bf16(size_t values, size_t exponents, size_t sign_mantissa) {
  if (exponents != sign_mantissa || values != 2 * exponents) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("bf16 planes: {} bytes of values, {} of exponents, {} of mantissas",
                            values, exponents, sign_mantissa));
  }
  return {};
}

}  // namespace

Status split_bytes(std::span<const std::byte> elements, size_t width, std::span<std::byte> planes) {
  if (Status status = check_bytes(width, elements.size(), planes.size()); !status) return status;
  const size_t count = elements.size() / width;
  const size_t whole = count * width;
  split_all(elements.data(), width, count, planes_at(planes.data(), width, count).data());
  std::copy(elements.begin() + whole, elements.end(), planes.begin() + whole);
  return {};
}

Status merge_bytes(std::span<const std::byte> planes, size_t width, std::span<std::byte> elements) {
  if (Status status = check_bytes(width, elements.size(), planes.size()); !status) return status;
  const size_t count = elements.size() / width;
  const size_t whole = count * width;
  merge_all(planes_at(planes.data(), width, count).data(), width, count, elements.data());
  std::copy(planes.begin() + whole, planes.end(), elements.begin() + whole);
  return {};
}

Status split_bits(std::span<const std::byte> elements, size_t width, std::span<std::byte> planes) {
  if (Status status = check_bits(width, elements.size(), planes.size()); !status) return status;
  const size_t count = elements.size() / width;
  const size_t stride = bit_plane_bytes(count);
  if (width == 1) {
    split_bits_of_bytes(elements.data(), count, planes_at(planes.data(), 8, stride).data());
    return {};
  }
  for (size_t first = 0; first < count; first += kTile) {
    const size_t tile = std::min(kTile, count - first);
    std::byte buffer[4 * kTile];
    split_all(elements.data() + first * width, width, tile, planes_at(buffer, width, tile).data());
    for (size_t b = 0; b < width; ++b) {
      std::byte* to = planes.data() + 8 * b * stride + first / 8;
      split_bits_of_bytes(buffer + b * tile, tile, planes_at(to, 8, stride).data());
    }
  }
  return {};
}

Status merge_bits(std::span<const std::byte> planes, size_t width, std::span<std::byte> elements) {
  if (Status status = check_bits(width, elements.size(), planes.size()); !status) return status;
  const size_t count = elements.size() / width;
  const size_t stride = bit_plane_bytes(count);
  if (width == 1) {
    merge_bits_of_bytes(planes_at(planes.data(), 8, stride).data(), count, elements.data());
    return {};
  }
  for (size_t first = 0; first < count; first += kTile) {
    const size_t tile = std::min(kTile, count - first);
    std::byte buffer[4 * kTile];
    for (size_t b = 0; b < width; ++b) {
      const std::byte* from = planes.data() + 8 * b * stride + first / 8;
      merge_bits_of_bytes(planes_at(from, 8, stride).data(), tile, buffer + b * tile);
    }
    merge_all(planes_at<const std::byte>(buffer, width, tile).data(), width, tile,
              elements.data() + first * width);
  }
  return {};
}

Status split_bf16(std::span<const std::byte> values, std::span<std::byte> exponents,
                  std::span<std::byte> sign_mantissa) {
  const Status status = check_bf16(values.size(), exponents.size(), sign_mantissa.size());
  if (!status) return status;
  std::byte* const planes[] = {sign_mantissa.data(), exponents.data()};
  for (size_t i = best().split_bf16(values.data(), exponents.size(), planes); i < exponents.size();
       ++i) {
    uint16_t value;
    std::memcpy(&value, values.data() + 2 * i, sizeof value);
    exponents[i] = std::byte{bf16_exponent(value)};
    sign_mantissa[i] = std::byte{bf16_sign_mantissa(value)};
  }
  return {};
}

Status merge_bf16(std::span<const std::byte> exponents, std::span<const std::byte> sign_mantissa,
                  std::span<std::byte> values) {
  const Status status = check_bf16(values.size(), exponents.size(), sign_mantissa.size());
  if (!status) return status;
  const std::byte* const planes[] = {sign_mantissa.data(), exponents.data()};
  for (size_t i = best().merge_bf16(planes, exponents.size(), values.data()); i < exponents.size();
       ++i) {
    const uint16_t value = bf16_join(std::to_integer<uint8_t>(exponents[i]),
                                     std::to_integer<uint8_t>(sign_mantissa[i]));
    std::memcpy(values.data() + 2 * i, &value, sizeof value);
  }
  return {};
}

}  // namespace hoist::codec
