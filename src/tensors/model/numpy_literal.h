// Just enough of Python's literals for the header of a .npy:
// {'key': 'text' | True | False | (1, 2, ) | [a list of anything], …}
#pragma once

#include <string_view>

#include "tensors/tensor.h"

namespace hoist::tensors {

class NumpyLiteral {
 public:
  explicit NumpyLiteral(std::string_view text) : text_(text) {}

  // Each of them: whether it comes next; then it is taken.
  bool take(char wanted);
  bool text(std::string_view& value);
  bool boolean(bool& value);
  bool tuple(Shape& values);
  // From '[' to its ']', brackets and texts in between balanced.
  bool list(std::string_view& value);
  bool at_end();

 private:
  void skip_space();

  std::string_view text_;
};

}  // namespace hoist::tensors
