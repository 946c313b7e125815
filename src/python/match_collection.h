// The sequences of a Python collection as count_pairs() takes them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "match/pairs/sequence_list.h"
#include "python/match_elements.h"

namespace hoist::python {

// None, NaN, and pandas.NA: what stands for a sequence that is not there.
bool is_missing(nanobind::handle item);

// The characters of a str and the elements of bytes where they lie; with Python's stable ABI those
// of ASCII strs only. Nothing for what lies elsewhere, or is neither.
std::optional<match::Sequence> symbols_in_place(nanobind::handle item);

// The same of at most `most` symbols, where that reads the item alone: while one thread holds the
// interpreter's lock, others may call it, too. With Python's stable ABI it calls the interpreter.
#ifdef Py_LIMITED_API
inline constexpr bool kReadsInPlace = false;
#else
inline constexpr bool kReadsInPlace = true;
#endif
std::optional<match::Sequence> short_symbols_in_place(nanobind::handle item, size_t most);

// The same of what lies elsewhere: copied into `room`. A str of characters below 256 has symbols of
// 1 byte either way, for which words differ.
match::Sequence copied_symbols(nanobind::handle item, ElementNumbers& numbers,
                               std::vector<uint32_t>& room);

// Lengths have 31 bits: raises InvalidArgument.
[[noreturn]] void refuse_length(size_t length);
template <typename Symbol>
match::Sequence sequence_of(const Symbol* symbols, size_t length) {
  if (length >> 31 != 0) refuse_length(length);
  return {symbols, length};
}

// The characters of a str are read where they lie, and so are bytes; with Python's stable ABI those
// of ASCII strs only. What lies elsewhere is copied. All are kept alive, and may be read without
// the interpreter's lock.
class Collection {
 public:
  // Throws what iterating, hashing and the processor raise, and TypeError for what is no sequence.
  Collection(nanobind::handle items, ElementNumbers& numbers, const nanobind::object& processor);

  match::SequenceList view() const { return sequences_; }
  size_t size() const { return sequences_.size(); }
  // The symbols of all sequences together.
  uint64_t symbols() const { return symbols_; }
  // Items that are None or NaN: their sequences are empty.
  const std::vector<size_t>& missing() const { return missing_; }

 private:
  match::Sequence elements(nanobind::handle item, ElementNumbers& numbers);
  // Room that stays.
  uint32_t* room(size_t symbols);

  nanobind::object items_;
  std::vector<nanobind::object> processed_;
  std::vector<std::unique_ptr<uint32_t[]>> blocks_;
  size_t left_ = 0;  // in the last of them, at its end
  size_t block_size_ = 0;
  std::vector<uint32_t> numbers_;
  std::vector<match::Sequence> sequences_;
  uint64_t symbols_ = 0;
  std::vector<size_t> missing_;
};

}  // namespace hoist::python
