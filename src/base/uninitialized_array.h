// An array whose elements are not set when it is made: for large results that several threads fill.
// A vector would first write all of them on one thread, which also makes that thread touch each
// page first.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace hoist {

template <typename T>
class UninitializedArray {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  UninitializedArray() = default;
  explicit UninitializedArray(size_t size)
      : elements_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

  T& operator[](size_t i) { return elements_[i]; }
  const T& operator[](size_t i) const { return elements_[i]; }
  size_t size() const { return size_; }
  std::span<T> span() { return {elements_.get(), size_}; }
  std::span<const T> span() const { return {elements_.get(), size_}; }

 private:
  std::unique_ptr<T[]> elements_;
  size_t size_ = 0;
};

}  // namespace hoist
