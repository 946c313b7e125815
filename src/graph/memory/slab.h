// The memory of 96 classes: 48 pages of 256 bytes each, in one piece.
//
//   Result<std::shared_ptr<Slab>> slab = Slab::create();
//   std::byte* at = (*slab)->at(*ClassAddress::of(42, 1024));     // page 4, byte 0
//
// Zeroed when made, aligned to 64 bytes. A class is plain memory: whoever uses a class shares it
// with everyone else who does (ClassSet gives classes out one by one), and synchronises accesses
// with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace hoist::graph {

inline constexpr size_t kClasses = 96;
inline constexpr size_t kPages = 48;
inline constexpr size_t kPageBytes = 256;
inline constexpr size_t kClassBytes = kPages * kPageBytes;
inline constexpr size_t kSlabBytes = kClasses * kClassBytes;

// A byte of the slab.
struct ClassAddress {
  uint8_t index = 0;  // of the class
  uint8_t page = 0;
  uint8_t byte = 0;

  // `invalid_argument` from class 96 or offset 12288 on.
  static Result<ClassAddress> of(size_t index, size_t offset_in_class);
  // `invalid_argument` outside of the classes or pages.
  static Result<ClassAddress> of(size_t index, size_t page, size_t byte);

  size_t offset_in_class() const { return page * kPageBytes + byte; }
  size_t offset() const { return index * kClassBytes + offset_in_class(); }

  friend bool operator==(const ClassAddress&, const ClassAddress&) = default;
};

class Slab {
 public:
  // `exhausted` where there is no memory.
  static Result<std::shared_ptr<Slab>> create();
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  std::byte* at(ClassAddress address) const { return data_ + address.offset(); }
  // `index` < kClasses
  std::byte* class_data(size_t index) const { return data_ + index * kClassBytes; }

 private:
  explicit Slab(std::byte* data) : data_(data) {}
  std::byte* const data_;
};

}  // namespace hoist::graph
