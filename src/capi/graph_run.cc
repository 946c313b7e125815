// Running programs on a caller's memory.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "capi/graph_handles.h"
#include "capi/status.h"

namespace hoist::capi {
namespace {

// Memory that a program runs on: the caller's, or a copy without gaps.
struct Place {
  void* data = nullptr;
  std::vector<std::byte> copy;
};

size_t element_bytes(const hoist_graph_array& array) {
  return graph::program::bytes_of(*graph_type(array.type));
}

bool is_empty(const hoist_graph_array& array) { return array.bytes == 0; }

Status check(const hoist_graph_memory& given, const hoist_graph_array& array,
             const std::string& who) {
  const auto refuse = [&](std::string what) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", who, what));
  };
  const size_t item = element_bytes(array);
  if (given.data == nullptr) {
    if (is_empty(array) && given.bytes == 0) return {};
    return refuse("a null pointer");
  }
  if (reinterpret_cast<uintptr_t>(given.data) % item != 0) {
    return refuse(fmt::format("the memory is not aligned to {} bytes", item));
  }
  if (given.strides == nullptr) {
    if (given.bytes == array.bytes) return {};
    return refuse(fmt::format("{} bytes, not {}", given.bytes, array.bytes));
  }
  uint64_t last = 0;  // element
  for (size_t i = 0; i < array.axes; ++i) {
    if (given.strides[i] < 0) return refuse(fmt::format("a negative stride of axis {}", i));
    uint64_t along = 0;
    if (!is_empty(array) &&
        (__builtin_mul_overflow(static_cast<uint64_t>(array.shape[i] - 1),
                                static_cast<uint64_t>(given.strides[i]), &along) ||
         __builtin_add_overflow(last, along, &last))) {
      return refuse(fmt::format("a stride of axis {} that is too large", i));
    }
  }
  if (!is_empty(array) && last >= given.bytes / item) {
    return refuse(fmt::format("{} bytes, and element {} is used", given.bytes, last));
  }
  return {};
}

// Calls `use` with the place of each element, in row-major order.
template <typename Use>
void each(const hoist_graph_array& array, const int64_t* strides, size_t axis, std::byte* at,
          size_t item, const Use& use) {
  if (axis == array.axes) return use(at);
  for (int64_t i = 0; i < array.shape[axis]; ++i) {
    each(array, strides, axis + 1, at + static_cast<size_t>(i * strides[axis]) * item, item, use);
  }
}

Result<std::vector<Place>> places_of(const hoist_graph_memory* given, size_t count,
                                     const std::vector<hoist_graph_array>& arrays,
                                     const char* what) {
  if (count != arrays.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a program with {} {}s is given {}", arrays.size(), what, count));
  }
  if (Status there = count == 0 ? Status() : needed(given, what); !there) return there.error();
  std::vector<Place> places(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = arrays[i].name;
    const std::string who = fmt::format("{} {}", what, name.empty() ? std::to_string(i) : name);
    if (Status fits = check(given[i], arrays[i], who); !fits) return fits.error();
    if (given[i].strides != nullptr) places[i].copy.resize(arrays[i].bytes + 1);
    places[i].data = given[i].strides == nullptr ? given[i].data : places[i].copy.data();
  }
  return places;
}

Status run(const hoist_graph_program& program, const hoist_graph_memory* inputs, size_t input_count,
           const hoist_graph_memory* outputs, size_t output_count) {
  auto from = places_of(inputs, input_count, program.inputs, "input");
  if (!from) return from.error();
  auto to = places_of(outputs, output_count, program.outputs, "output");
  if (!to) return to.error();
  std::vector<const void*> read;
  std::vector<void*> written;
  for (size_t i = 0; i < input_count; ++i) {
    Place& place = (*from)[i];
    read.push_back(place.data);
    if (inputs[i].strides == nullptr || is_empty(program.inputs[i])) continue;
    const size_t item = element_bytes(program.inputs[i]);
    std::byte* next = place.copy.data();
    each(program.inputs[i], inputs[i].strides, 0, static_cast<std::byte*>(inputs[i].data), item,
         [&](const std::byte* at) {
           std::memcpy(next, at, item);
           next += item;
         });
  }
  for (const Place& place : *to) written.push_back(place.data);
  if (Status done = program.program->run(read, written); !done) return done;
  for (size_t i = 0; i < output_count; ++i) {
    if (outputs[i].strides == nullptr || is_empty(program.outputs[i])) continue;
    const size_t item = element_bytes(program.outputs[i]);
    const std::byte* next = (*to)[i].copy.data();
    each(program.outputs[i], outputs[i].strides, 0, static_cast<std::byte*>(outputs[i].data), item,
         [&](std::byte* at) {
           std::memcpy(at, next, item);
           next += item;
         });
  }
  return {};
}

}  // namespace
}  // namespace hoist::capi

extern "C" {

hoist_status hoist_graph_run(const hoist_graph_program* program, const hoist_graph_memory* inputs,
                             size_t input_count, const hoist_graph_memory* outputs,
                             size_t output_count) {
  using namespace hoist::capi;
  return guarded([&]() -> hoist::Status {
    if (hoist::Status there = needed(program, "program"); !there) return there;
    return run(*program, inputs, input_count, outputs, output_count);
  });
}

}  // extern "C"
