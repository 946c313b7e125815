// Addresses in the memory of the classes: 48 pages of 256 bytes for each of the 96.
//
//   BeltAddress{.page = 17, .byte = 0x5a}.offset()     // 4442
//   Result<BeltAddress> at = BeltAddress::at(4442);    // page 17, byte 0x5a
//
// The belt is the memory of one class. A Phi address names the class, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace hoist::graph {

struct BeltAddress {
  static constexpr size_t kPages = 48;
  static constexpr size_t kPageBytes = 256;
  static constexpr size_t kBytes = kPages * kPageBytes;  // 12288

  uint8_t page = 0;
  uint8_t byte = 0;

  // `invalid_argument` from kBytes on.
  static Result<BeltAddress> at(size_t offset);

  size_t offset() const { return page * kPageBytes + byte; }

  friend bool operator==(const BeltAddress&, const BeltAddress&) = default;
};

struct PhiAddress {
  static constexpr size_t kBytes = 96 * BeltAddress::kBytes;  // 1179648

  uint8_t index = 0;  // of the class
  BeltAddress within;

  // `invalid_argument` from kBytes on.
  static Result<PhiAddress> at(size_t offset);
  // `invalid_argument` from class 96 or offset 12288 on.
  static Result<PhiAddress> in_class(size_t index, size_t offset);

  size_t offset() const { return index * BeltAddress::kBytes + within.offset(); }

  friend bool operator==(const PhiAddress&, const PhiAddress&) = default;
};

}  // namespace hoist::graph
