// What a comparator may turn out to compare: keys at fixed places of an element, and their order.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/qsort/mappings.h"

namespace hoist::qsort {

enum class KeyType : uint8_t {
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64,
  bytes,     // as memcmp() compares `length` bytes
  text,      // as strncmp() compares `length` bytes: up to a NUL
  string,    // a pointer to what strcmp() compares
  collated,  // a pointer to what strcoll() compares, in the thread's locale
};

struct Key {
  KeyType type;
  bool descending;
  uint32_t offset;  // in the element, bytes
  uint32_t length;  // of what lies there, bytes

  bool operator==(const Key&) const = default;
};

inline bool is_float(KeyType type) { return type == KeyType::f32 || type == KeyType::f64; }
inline bool is_integer(KeyType type) { return type < KeyType::f32; }
// Numbers are one word; the others may be many.
inline bool is_number(KeyType type) { return type < KeyType::bytes; }
inline bool is_pointer(KeyType type) { return type >= KeyType::string; }

namespace words {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint64_t of_signed(int64_t value) {
  return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
}

// IEEE 754 numbers as integers of the same order; both zeros are one. NaNs come out above
// of_float(infinity) or below of_float(-infinity).
inline uint64_t of_float(double value) {
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
}

// Up to 8 bytes, the first one the most significant; zeros follow.
inline uint64_t of_bytes(const std::byte* at, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, at, size < 8 ? size : 8);
  return __builtin_bswap64(value);
}

// `word` from of_bytes(), with zeros from its first zero byte on.
inline uint64_t until_nul(uint64_t word) {
  // The lowest set bit of each zero byte's 0x80, exact from the most significant byte down to the
  // first zero byte (Mycroft's test, on the word as it lies in memory).
  const uint64_t lie = __builtin_bswap64(word);
  const uint64_t zero = (lie - 0x0101010101010101u) & ~lie & 0x8080808080808080u;
  if (zero == 0) return word;
  const int bytes = __builtin_ctzll(zero) / 8;  // in front of the first NUL
  return bytes == 0 ? 0 : word & (~uint64_t{0} << (64 - 8 * bytes));
}

// 8 bytes of the string that `pointer` leads to, from `skip` on; 0 where it has ended. Does not
// read behind the mapping's end, nor on a page that the string does not reach.
uint64_t of_string(const std::byte* pointer, size_t skip, const Mappings& mappings);

// The first 8 bytes of what strxfrm() makes of the string: all that is ever asked for. Sorting
// takes whole keys (ops/qsort/collation.h).
uint64_t of_collated(const std::byte* pointer, const Mappings& mappings);

}  // namespace words

// Calls body(read), where read(element) is the key's word number `depth`: words order elements as
// the key does, the first difference deciding.
template <typename Body>
auto with_reader(const Key& key, size_t depth, const Mappings& mappings, Body&& body) {
  using namespace words;
  const uint64_t flip = key.descending ? ~uint64_t{0} : 0;
  const size_t offset = key.offset;
  const auto number = [&]<typename T>(T) {
    return body([=](const std::byte* element) {
      const T value = load<T>(element + offset);
      if constexpr (std::is_floating_point_v<T>) {
        return of_float(value) ^ flip;
      } else if constexpr (std::is_signed_v<T>) {
        return of_signed(value) ^ flip;
      } else {
        return static_cast<uint64_t>(value) ^ flip;
      }
    });
  };
  switch (key.type) {
    case KeyType::i8:
      return number(int8_t{});
    case KeyType::u8:
      return number(uint8_t{});
    case KeyType::i16:
      return number(int16_t{});
    case KeyType::u16:
      return number(uint16_t{});
    case KeyType::i32:
      return number(int32_t{});
    case KeyType::u32:
      return number(uint32_t{});
    case KeyType::i64:
      return number(int64_t{});
    case KeyType::u64:
      return number(uint64_t{});
    case KeyType::f32:
      return number(float{});
    case KeyType::f64:
      return number(double{});
    case KeyType::bytes:
    case KeyType::text: {
      const size_t at = offset + 8 * depth;
      const size_t size = key.length - 8 * depth;
      if (key.type == KeyType::bytes) {
        return body([=](const std::byte* element) { return of_bytes(element + at, size) ^ flip; });
      }
      return body(
          [=](const std::byte* element) { return until_nul(of_bytes(element + at, size)) ^ flip; });
    }
    case KeyType::collated:
      return body([=, &mappings](const std::byte* element) {
        return of_collated(load<const std::byte*>(element + offset), mappings) ^ flip;
      });
    case KeyType::string:
      break;
  }
  return body([=, &mappings](const std::byte* element) {
    return of_string(load<const std::byte*>(element + offset), 8 * depth, mappings) ^ flip;
  });
}

// Whether the key has a further word behind number `depth`, among elements that agree in `word`.
bool continues(const Key& key, uint64_t word, size_t depth);

// Up to three keys, the first difference deciding.
struct Order {
  static constexpr size_t kMostKeys = 3;
  std::array<Key, kMostKeys> keys;
  size_t count = 0;

  bool operator==(const Order& other) const;
};

// Below, equal or above 0, as a comparator. Equal, too, where only what follows 64 KiB would tell:
// a pointer that is taken for a string's may lead to anything.
int compare(const Key& key, const std::byte* a, const std::byte* b, const Mappings& mappings);
int compare(const Order& order, const std::byte* a, const std::byte* b, const Mappings& mappings);

}  // namespace hoist::qsort
