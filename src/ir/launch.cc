#include "ir/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/arithmetic.h"
#include "ir/interpret.h"
#include "ir/walk.h"

namespace hoist::ir {
namespace {

constexpr uint64_t kMostInDimension = 0x7fffffff;
// The limits of GPUs, on all targets.
constexpr uint32_t kMostRows = 65535;
constexpr uint32_t kMostLayers = 64;

template <typename... Arguments>
Error refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return fail(ErrorCode::invalid_argument,
              fmt::format(format, std::forward<Arguments>(arguments)...));
}

// "3", or "(3, 0, 1)" where the grid is more than a row.
std::string text_of(const std::array<uint32_t, 3>& position) {
  if (position[1] == 0 && position[2] == 0) return fmt::format("{}", position[0]);
  return fmt::format("({}, {}, {})", position[0], position[1], position[2]);
}

Status check_grid(const Kernel& kernel, const Grid& grid) {
  uint64_t threads = 1;
  for (size_t d = 0; d < 3; ++d) {
    threads = std::min<uint64_t>(threads * grid.threads[d], kMostThreads + 1);
    if (uint64_t{grid.blocks[d]} * grid.threads[d] > kMostInDimension) {
      return refuse("{} blocks of {} threads are more than {} threads in a dimension ({})",
                    grid.blocks[d], grid.threads[d], kMostInDimension, kernel.name);
    }
  }
  if (grid.blocks[1] > kMostRows || grid.blocks[2] > kMostRows || grid.threads[2] > kMostLayers) {
    return refuse("a grid has at most {} blocks in y and z, and a block {} threads in z ({})",
                  kMostRows, kMostLayers, kernel.name);
  }
  if (threads == 0 || threads > kMostThreads) {
    return refuse("a block has 1 to {} threads, not {} x {} x {} ({})", kMostThreads,
                  grid.threads[0], grid.threads[1], grid.threads[2], kernel.name);
  }
  return {};
}

struct Range {
  const Array* array;
  uintptr_t begin;
  uintptr_t end;
};

bool overlaps(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

Status check_overlap(const Kernel& kernel, std::span<const Range> ranges) {
  for (const Range& written : ranges) {
    if (written.array->direction == Direction::in) continue;
    for (const Range& other : ranges) {
      const bool may_be = written.array->may_be_another && other.array->may_be_another &&
                          written.begin == other.begin && written.end == other.end;
      if (&other != &written && !may_be && overlaps(written, other)) {
        return refuse("{} is written and overlaps {} ({})", written.array->name, other.array->name,
                      kernel.name);
      }
    }
  }
  return {};
}

}  // namespace

std::string describe(const Fault& fault, const std::string& file) {
  return fmt::format(
      "{}:{}:{}: {} reads or writes {}[{}], which has {} elements (block {}, thread "
      "{})",
      file, fault.place.line, fault.place.column, fault.kernel, fault.array, fault.index,
      fault.length, text_of(fault.block), text_of(fault.thread));
}

Status check_launch(const Kernel& kernel, const Grid& grid, std::span<const Argument> arguments) {
  if (Status can = check_grid(kernel, grid); !can) return can;
  if (arguments.size() != kernel.arguments.size()) {
    return refuse("{} takes {} arguments, not {}", kernel.name, kernel.arguments.size(),
                  arguments.size());
  }
  const std::set<const Array*> wide = vector_arrays(kernel);
  std::vector<Range> ranges;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Array* array = kernel.arguments[i].array;
    if (!array) continue;
    const auto begin = reinterpret_cast<uintptr_t>(arguments[i].data);
    const auto element = static_cast<uint64_t>(bytes(array->element));
    if (begin == 0 && arguments[i].length != 0) {
      return refuse("{} is null ({})", array->name, kernel.name);
    }
    const uint64_t alignment = wide.contains(array) ? 16 : element;
    if (begin % alignment != 0) {
      return refuse("{} is not aligned to {} bytes ({})", array->name, alignment, kernel.name);
    }
    ranges.push_back({array, begin, begin + arguments[i].length * element});
  }
  return check_overlap(kernel, ranges);
}

Result<Grid> grid_of(const Launch& launch, std::span<const Argument> arguments) {
  Grid grid;
  for (auto [extents, values] :
       {std::pair{&launch.blocks, &grid.blocks}, std::pair{&launch.threads, &grid.threads}}) {
    for (size_t d = 0; d < 3; ++d) {
      const Expression* extent = (*extents)[d];
      if (!extent) continue;
      const uint64_t bits = evaluate(*extent, *launch.kernel, arguments);
      const int64_t value = integer_of(extent->type.scalar, bits);
      if (value < 0 || value > static_cast<int64_t>(kMostInDimension)) {
        return refuse("a launch of {} has {} {}", launch.kernel->name, value,
                      extents == &launch.blocks ? "blocks" : "threads");
      }
      (*values)[d] = static_cast<uint32_t>(value);
    }
  }
  return grid;
}

}  // namespace hoist::ir
