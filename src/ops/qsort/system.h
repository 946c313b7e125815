// What the C library and the machine do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hoist::qsort {

// Whether the qsort() of glibc `version`, "2.36", sorts so many elements stably. Up to 2.38 it is a
// merge sort while its buffer takes no more than a quarter of the physical memory, and a quicksort
// beyond. From 2.39 on it is a merge sort whose buffer malloc() has to give. (In between, the
// development branch had an introsort, which was in no release.) False for versions that nobody has
// looked at.
bool sorts_stably(std::string_view version, size_t count, size_t size, uint64_t physical_memory);
// The running C library's.
bool sorts_stably(size_t count, size_t size);

}  // namespace hoist::qsort
