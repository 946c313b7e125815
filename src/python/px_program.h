// A px text that was read, and what was built of it: one program a device, each when arrays that
// lie there are first given to it.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "px/lower/lower.h"
#include "px/program.h"
#include "python/px_arrays.h"

namespace hoist::python {

class PxBuilt;

class PxProgram {
 public:
  using Extents = std::array<uint32_t, 3>;

  // The text has no errors. Builds at once for a target that is named.
  PxProgram(std::string name, std::string text, px::Target target, bool check_bounds);
  PxProgram(const PxProgram&) = delete;
  PxProgram& operator=(const PxProgram&) = delete;
  ~PxProgram();

  // Arrays of the host are copied to a GPU and back where one is named or, with an automatic
  // target, said to be faster (px/place). Waits until the kernel is done. Without threads, or
  // without blocks, they follow from the arguments. Gives None, or the fault: (message, line,
  // column, array, index, length).
  nanobind::object launch(const std::string& kernel, const nanobind::tuple& arguments,
                          const std::optional<Extents>& blocks,
                          const std::optional<Extents>& threads);

 private:
  std::shared_ptr<PxBuilt> built_for(device::Device& device);
  void check_places(const std::string& kernel, const std::vector<PxArray>& arrays) const;
  device::Device& device_of(const ir::Kernel& kernel, const ir::Grid& grid,
                            std::span<const ir::Argument> arguments, int gpu_of_arrays) const;

  const std::string name_;
  const std::string text_;
  const px::Target target_;
  const bool check_bounds_;
  const px::Lowered lowered_;                                  // says what the kernels take
  std::map<device::Device*, std::shared_ptr<PxBuilt>> built_;  // under the interpreter's lock
};

}  // namespace hoist::python
