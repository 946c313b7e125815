// Numbers as they are written, compared exactly: 64 bits hold neither every integer of a log nor
// the digits of every price.
//
// A number is written as in JSON (json_number.h).
// In front of an exponent stands one digit (1.5e-7), as programs print it: 12e45678 is a name, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hoist::records {

class ExactNumber {
 public:
  // Nothing where the text is no number. The text must outlive the number.
  static std::optional<ExactNumber> parse(std::string_view text);

  // Less than 0, 0, more than 0: this number is less, equal, more.
  int compare(const ExactNumber& other) const;

  // What integers that count units of 10^-scale are compared with (scale: 0 to 18).
  class Bound {
   public:
    int compare_to(int64_t value) const;  // that of the value with this number

   private:
    friend class ExactNumber;
    __int128 floor_ = 0;
    bool is_exact_ = true;
  };
  Bound bound(int scale) const;

 private:
  bool is_zero() const { return size() == 0; }
  size_t size() const { return first_.size() + second_.size(); }
  int digit(size_t i) const {
    if (i < first_.size()) return first_[i] - '0';
    return i < size() ? second_[i - first_.size()] - '0' : 0;
  }
  int compare_size(const ExactNumber& other) const;

  // ±0.DDD… times 10^exponent; the digits in two parts, the first of them is not 0.
  bool negative_ = false;
  std::string_view first_;
  std::string_view second_;
  int64_t exponent_ = 0;
};

// Whether a value that is no number is compared with numbers all the same, as bytes: dates,
// addresses, and names made of the digits of base 16, one of them a digit of base 10.
bool is_ordered_text(std::string_view text);

// The double that is nearest to a number of any size: infinity, or 0, beyond the range of doubles.
// Takes what std::from_chars does; nothing where that is not the whole text.
std::optional<double> nearest_double(std::string_view text);

}  // namespace hoist::records
