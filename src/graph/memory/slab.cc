#include "graph/memory/slab.h"

#include <sys/mman.h>

#include <string>

namespace hoist::graph {

Result<ClassAddress> ClassAddress::of(size_t index, size_t offset_in_class) {
  if (offset_in_class >= kClassBytes) {
    return fail(ErrorCode::invalid_argument, "offset " + std::to_string(offset_in_class) +
                                                 " >= 12288: a class has 48 pages of 256 bytes");
  }
  return of(index, offset_in_class / kPageBytes, offset_in_class % kPageBytes);
}

Result<ClassAddress> ClassAddress::of(size_t index, size_t page, size_t byte) {
  if (index >= kClasses) {
    return fail(ErrorCode::invalid_argument,
                "class " + std::to_string(index) + " >= 96: give one of 0 to 95");
  }
  if (page >= kPages || byte >= kPageBytes) {
    return fail(ErrorCode::invalid_argument, "page " + std::to_string(page) + ", byte " +
                                                 std::to_string(byte) +
                                                 ": a class has 48 pages of 256 bytes");
  }
  return ClassAddress{static_cast<uint8_t>(index), static_cast<uint8_t>(page),
                      static_cast<uint8_t>(byte)};
}

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
