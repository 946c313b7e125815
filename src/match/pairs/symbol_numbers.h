// Symbols as small numbers, by which tables of masks are indexed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

// Symbols of one byte are their own numbers. Others have the numbers above kOther if they were
// added, and kOther if they were not: that stands for what equals nothing. The table has pages, and
// is as sparse as the symbols are.
class SymbolNumbers {
 public:
  static constexpr uint32_t kOther = 256;

  SymbolNumbers() : pages_{1}, numbers_(2 * size_t{kPage}, kOther) {
    for (uint32_t symbol = 0; symbol < kPage; ++symbol) numbers_[kPage + symbol] = symbol;
  }

  // Writes the numbers of all its symbols, and adds those that are new.
  void add(const Sequence& sequence, uint32_t* out) {
    with_symbols(sequence, [&](const auto symbols) {
      if constexpr (sizeof(symbols[0]) == 1) {
        std::copy(symbols.begin(), symbols.end(), out);
      } else {
        std::transform(symbols.begin(), symbols.end(), out,
                       [&](uint32_t symbol) { return add(symbol); });
      }
    });
  }

  uint32_t of(uint32_t symbol) const {
    const uint32_t page = symbol / kPage;
    return page < pages_.size() ? numbers_[size_t{pages_[page]} * kPage + symbol % kPage] : kOther;
  }

  // More than any number.
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kPage = 256;

  uint32_t add(uint32_t symbol) {
    const uint32_t page = symbol / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1, 0);
    if (pages_[page] == 0) {
      pages_[page] = static_cast<uint32_t>(numbers_.size() / kPage);
      numbers_.resize(numbers_.size() + kPage, kOther);
    }
    uint32_t& number = numbers_[size_t{pages_[page]} * kPage + symbol % kPage];
    if (number == kOther) number = size_++;
    return number;
  }

  std::vector<uint32_t> pages_;  // the first, 0, has nothing but kOther
  std::vector<uint32_t> numbers_;
  uint32_t size_ = kOther + 1;
};

// The sequences of a list, in the numbers of their symbols, which are added.
class NumberedList {
 public:
  NumberedList(const SequenceList& list, SymbolNumbers& numbers) : list_(list) {
    ends_.reserve(list.size());
    uint64_t end = 0;
    for (const Sequence& sequence : list) ends_.push_back(end += sequence.length);
    symbols_.resize(end);
    for (size_t i = 0; i < list.size(); ++i) {
      numbers.add(list[i], symbols_.data() + (ends_[i] - list[i].length));
    }
  }

  size_t size() const { return list_.size(); }
  const Sequence& sequence(size_t i) const { return list_[i]; }
  uint32_t length(size_t i) const { return list_[i].length; }
  std::span<const uint32_t> operator[](size_t i) const {
    return {symbols_.data() + (ends_[i] - length(i)), length(i)};
  }

 private:
  SequenceList list_;
  std::vector<uint64_t> ends_;
  std::vector<uint32_t> symbols_;
};

// A sequence in the numbers of its symbols, which are looked up as far as they are asked for.
class NumberedSequence {
 public:
  NumberedSequence() = default;
  NumberedSequence(const NumberedSequence&) = delete;
  NumberedSequence& operator=(const NumberedSequence&) = delete;

  // In the place of the one before, whose numbers are gone.
  void set(const Sequence& sequence, const SymbolNumbers& numbers) {
    sequence_ = sequence;
    by_symbol_ = &numbers;
    known_ = 0;
    numbers_ = own_.data();
  }
  // Whose numbers are known, and stay where they are.
  void set(const Sequence& sequence, const uint32_t* numbers) {
    sequence_ = sequence;
    known_ = sequence.length;
    numbers_ = numbers;
  }

  const Sequence& sequence() const { return sequence_; }
  uint32_t length() const { return sequence_.length; }
  // The numbers of the first `size` symbols at least, until more are asked for.
  const uint32_t* front(size_t size) {
    if (size > known_) look_up(size);
    return numbers_;
  }
  std::span<const uint32_t> all() { return {front(length()), length()}; }

 private:
  static constexpr size_t kStep = 64;

  void look_up(size_t size) {
    const size_t end = std::min(size_t{length()}, std::max(size, known_ + kStep));
    if (own_.size() < end) own_.resize(end);
    numbers_ = own_.data();
    with_symbols(sequence_, [&](const auto symbols) {
      uint32_t* const out = own_.data();
      for (size_t i = known_; i < end; ++i) {
        if constexpr (sizeof(symbols[0]) == 1) {
          out[i] = symbols[i];
        } else {
          out[i] = by_symbol_->of(symbols[i]);
        }
      }
    });
    known_ = end;
  }

  Sequence sequence_;
  const SymbolNumbers* by_symbol_ = nullptr;
  std::vector<uint32_t> own_;
  const uint32_t* numbers_ = nullptr;
  size_t known_ = 0;
};

}  // namespace hoist::match
