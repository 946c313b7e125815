// What a program's kernels take.
#include <fmt/core.h>

#include "base/nearest_word.h"
#include "capi/px_program.h"
#include "capi/status.h"

using hoist::ErrorCode;
using hoist::Status;
using hoist::capi::guarded;
using hoist::capi::needed;

extern "C" {

size_t hoist_px_kernel_count(const hoist_px_program* program) {
  return program == nullptr ? 0 : program->kernels.size();
}

const char* hoist_px_kernel_name(const hoist_px_program* program, size_t kernel) {
  if (kernel >= hoist_px_kernel_count(program)) return nullptr;
  return program->kernels[kernel].kernel->name.c_str();
}

hoist_status hoist_px_find_kernel(const hoist_px_program* program, const char* name,
                                  size_t* kernel) {
  return guarded([&]() -> Status {
    if (Status there = needed(kernel, "kernel"); !there) return there;
    *kernel = 0;
    if (Status there = needed(program, "program"); !there) return there;
    if (Status there = needed(name, "name"); !there) return there;
    std::vector<std::string> known;
    for (size_t i = 0; i < program->kernels.size(); ++i) {
      known.push_back(program->kernels[i].kernel->name);
      if (known.back() != name) continue;
      *kernel = i;
      return {};
    }
    const std::string nearest = hoist::nearest_word(name, known);
    return hoist::fail(ErrorCode::not_found,
                       fmt::format("no kernel {} ({}){}", name, program->name,
                                   nearest.empty() ? "" : ": is it " + nearest + "?"));
  });
}

const hoist_px_parameter* hoist_px_kernel_parameters(const hoist_px_program* program, size_t kernel,
                                                     size_t* count) {
  const bool is_there = kernel < hoist_px_kernel_count(program);
  if (count != nullptr) *count = is_there ? program->kernels[kernel].parameters.size() : 0;
  return is_there ? program->kernels[kernel].parameters.data() : nullptr;
}

}  // extern "C"
