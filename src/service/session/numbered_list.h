// A list that grows at its end and shrinks at its beginning. Elements have consecutive numbers and
// keep them, so that numbers alone tell a store of single elements what came and what went.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hoist::service {

struct NumberRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const NumberRange&) const = default;
};

template <typename T>
class NumberedList {
 public:
  NumberedList() = default;
  explicit NumberedList(std::vector<T> values, uint64_t first = 0)
      : first_(first), values_(std::move(values)) {}

  const std::vector<T>& values() const { return values_; }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  const T& back() const { return values_.back(); }
  NumberRange numbers() const { return {first_, first_ + values_.size()}; }
  const T& at(uint64_t number) const { return values_.at(number - first_); }

  void push_back(T value) { values_.push_back(std::move(value)); }
  // The element that was pushed last, which nobody has stored: the next one gets its number.
  void pop_back() { values_.pop_back(); }
  void drop_front(size_t count) {
    values_.erase(values_.begin(), values_.begin() + static_cast<ptrdiff_t>(count));
    first_ += count;
  }
  void clear() { drop_front(size()); }
  // All of it, which leaves none.
  NumberedList take() {
    NumberedList taken(std::move(values_), first_);
    first_ = taken.numbers().end;
    values_.clear();
    return taken;
  }
  // The end of it.
  NumberedList last(size_t count) const {
    return NumberedList({values_.end() - static_cast<ptrdiff_t>(count), values_.end()},
                        numbers().end - count);
  }

 private:
  uint64_t first_ = 0;
  std::vector<T> values_;
};

}  // namespace hoist::service
