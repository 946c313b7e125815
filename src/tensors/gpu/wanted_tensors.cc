#include "tensors/gpu/wanted_tensors.h"

#include <fmt/format.h>

#include <numeric>

namespace hoist::tensors {

Result<std::vector<size_t>> wanted_tensors(const std::vector<TensorTarget>& only, size_t count,
                                           const std::string& file) {
  std::vector<size_t> numbers(only.empty() ? count : 0);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<bool> is_wanted(count);
  for (const TensorTarget& one : only) {
    if (one.tensor >= count || is_wanted[one.tensor]) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("tensor {} of {} ({}): {}", one.tensor, count, file,
                              one.tensor >= count ? "there is none" : "asked for twice"));
    }
    is_wanted[one.tensor] = true;
    numbers.push_back(one.tensor);
  }
  return numbers;
}

}  // namespace hoist::tensors
