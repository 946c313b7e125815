#include "graph/program/values.h"

#include <cstring>

namespace hoist::graph::program {

bool Values::operator==(const Values& other) const {
  return all_.index() == other.all_.index() && size() == other.size() &&
         (empty() || std::memcmp(bytes(), other.bytes(), size() * lane()) == 0);
}

}  // namespace hoist::graph::program
