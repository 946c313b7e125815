// The memory of 96 classes: 48 pages of 256 bytes each, in one piece.
//
//   Result<std::shared_ptr<Slab>> slab = Slab::create();
//   std::byte* at = (*slab)->at(*PhiAddress::in_class(42, 1024));     // page 4, byte 0
//
// Zeroed when made, aligned to 64 bytes. A class is plain memory: whoever uses a class shares it
// with everyone else who does (ClassSet gives classes out one by one), and synchronises accesses
// with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "graph/classes/address.h"
#include "graph/classes/classes.h"

namespace hoist::graph {

inline constexpr size_t kClasses = kByteClasses;
inline constexpr size_t kPages = BeltAddress::kPages;
inline constexpr size_t kPageBytes = BeltAddress::kPageBytes;
inline constexpr size_t kClassBytes = BeltAddress::kBytes;
inline constexpr size_t kSlabBytes = PhiAddress::kBytes;

class Slab {
 public:
  // `exhausted` where there is no memory.
  static Result<std::shared_ptr<Slab>> create();
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  std::byte* at(PhiAddress address) const { return data_ + address.offset(); }
  // `index` < kClasses
  std::byte* class_data(size_t index) const { return data_ + index * kClassBytes; }

 private:
  explicit Slab(std::byte* data) : data_(data) {}
  std::byte* const data_;
};

}  // namespace hoist::graph
