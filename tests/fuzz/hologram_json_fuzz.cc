// Text is read as a JSON array of floats and of sizes. What is accepted comes back the same when it
// was written; what is refused must be `corrupt`, with a position in the text.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ffi/json.h"

namespace {

using namespace hoist::graph::ffi;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename T>
void require_corrupt(const hoist::Result<T>& refused) {
  require(refused.error().code == hoist::ErrorCode::corrupt);
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // In a heap block of its exact size, so that a sanitizer sees a step too far.
  const std::vector<char> text(data, data + size);
  const std::string_view json(text.data(), text.size());
  if (const auto floats = read_floats(json, "data"); floats) {
    const auto again = read_floats(write_floats(*floats), "data");
    require(again && again->size() == floats->size());
    for (size_t i = 0; i < floats->size(); ++i) require(same((*again)[i], (*floats)[i]));
  } else {
    require_corrupt(floats);
  }
  if (const auto sizes = read_sizes(json, "shape"); sizes) {
    require(read_sizes(write_sizes(*sizes), "shape") == *sizes);
    require(read_floats(json, "data").has_value());
  } else {
    require_corrupt(sizes);
  }
  return 0;
}
