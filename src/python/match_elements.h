// Python sequences of hashable elements as sequences of numbers: equal elements have equal numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace hoist::python {

// Characters are their code points; what is no character is above them.
inline constexpr uint32_t kFirstNumber = 0x110000;

// Appends the code points of a str.
void append_characters(nanobind::handle text, std::vector<uint32_t>& out);

// Numbers elements as a dict finds them, by hash and equality.
class ElementNumbers {
 public:
  // With `characters`, a str of one character is its code point, and so is a number that is equal
  // to it (RapidFuzz compares 'a' and 97 as equal).
  explicit ElementNumbers(bool characters) : characters_(characters) {}

  // Throws what iterating and hashing raise.
  void append(nanobind::handle sequence, std::vector<uint32_t>& out);
  // Numbers one element. An element that was never numbered gets kFirstNumber - 1, which nothing
  // has, where `adds` is false.
  uint32_t number(nanobind::handle element, bool adds = true);
  // The elements that it keeps alive.
  nanobind::handle elements() const { return numbers_; }
  // Forgets them all; gives what kept them.
  nanobind::dict take_elements() { return std::exchange(numbers_, nanobind::dict()); }

 private:
  // Whether it could.
  bool append_buffer(nanobind::handle sequence, std::vector<uint32_t>& out);

  bool characters_;
  nanobind::dict numbers_;
  uint32_t next_ = kFirstNumber;
};

}  // namespace hoist::python
