#include "graph/classes/classes.h"

namespace hoist::graph {
namespace {

constexpr int kContexts = 8;
constexpr int kModalities = 3;

// By bits 5 and 4.
constexpr uint8_t kModalityOfBits[4] = {0, 1, 2, 0};

}  // namespace

uint8_t class_of(Components components) {
  return static_cast<uint8_t>((components.scope * kModalities + components.modality) * kContexts +
                              components.context);
}

uint8_t class_of(uint8_t byte) {
  return class_of({.scope = static_cast<uint8_t>(byte >> 6),
                   .modality = kModalityOfBits[byte >> 4 & 3],
                   .context = static_cast<uint8_t>(byte >> 1 & 7)});
}

Components components(uint8_t index) {
  return {.scope = static_cast<uint8_t>(index / (kModalities * kContexts)),
          .modality = static_cast<uint8_t>(index / kContexts % kModalities),
          .context = static_cast<uint8_t>(index % kContexts)};
}

uint8_t representative(uint8_t index) {
  const Components parts = components(index);
  return static_cast<uint8_t>(parts.scope << 6 | parts.modality << 4 | parts.context << 1);
}

std::vector<uint8_t> bytes_of(uint8_t index) {
  std::vector<uint8_t> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    if (class_of(static_cast<uint8_t>(byte)) == index) bytes.push_back(static_cast<uint8_t>(byte));
  }
  return bytes;
}

}  // namespace hoist::graph
