#include "ir/module.h"

#include <algorithm>

namespace hoist::ir {

int Kernel::find_argument(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? -1 : static_cast<int>(found - arguments.begin());
}

uint64_t Kernel::shared_bytes() const {
  uint64_t sum = 0;
  for (const Array& array : arrays) {
    if (array.space != Space::shared) continue;
    // Each array begins at a multiple of 16 bytes.
    sum += (array.count * static_cast<uint64_t>(bytes(array.element)) + 15) / 16 * 16;
  }
  return sum;
}

const Array* Module::add_table(std::string name, Scalar element, std::vector<uint64_t> values) {
  const uint64_t count = values.size();
  for (uint64_t& bits : values) bits &= mask(element);
  return &tables_.emplace_back(
      Array{std::move(name), element, Space::constant, Direction::in, count, std::move(values)});
}

const Function* Module::add(std::unique_ptr<Function> function) {
  return functions_.emplace_back(std::move(function)).get();
}

const Kernel* Module::add(std::unique_ptr<Kernel> kernel) {
  return kernels_.emplace_back(std::move(kernel)).get();
}

void Module::for_each_body(const std::function<void(Block&)>& change) {
  for (const auto& function : functions_) change(function->body);
  for (const auto& kernel : kernels_) change(kernel->body);
}

const Kernel* Module::find_kernel(std::string_view name) const {
  for (const auto& kernel : kernels_) {
    if (kernel->name == name) return kernel.get();
  }
  return nullptr;
}

}  // namespace hoist::ir
