#include "service/session/json_shape.h"

#include <cstdint>

namespace hoist::service {

const char* check_json_shape(std::string_view text, size_t most_values) {
  int64_t depth = 0;
  size_t values = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (depth > int64_t{kMostJsonDepth}) return "it is deeper than 64 levels";
    if (values > most_values) return "it has more than two million values";
  }
  return nullptr;
}

}  // namespace hoist::service
