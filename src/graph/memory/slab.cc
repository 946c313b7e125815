#include "graph/memory/slab.h"

#include <sys/mman.h>

namespace hoist::graph {

Result<std::shared_ptr<Slab>> Slab::create() {
  void* const data =
      ::mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::exhausted,
                "no memory for the 96 classes (1179648 bytes): free some, or raise ulimit -v");
  }
  return std::shared_ptr<Slab>(new Slab(static_cast<std::byte*>(data)));
}

Slab::~Slab() { ::munmap(data_, kSlabBytes); }

}  // namespace hoist::graph
