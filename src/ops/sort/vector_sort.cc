#include "ops/sort/vector_sort.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/log.h"

namespace hoist::sort {
namespace {

constexpr size_t kWorthLoading = size_t{1} << 18;
constexpr size_t kInsertionSort = 24;  // below this std::sort is as fast as the vectors

void plain_sort(Entry* entries, size_t count) { std::sort(entries, entries + count, below); }

// lib/ of the tree that this program is in, as PREFIX/libexec/hoist/PROGRAM or
// PREFIX/tests/PROGRAM.
SortFunction load_vqsort() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char* folder : {"../../lib", "../lib"}) {
    const std::filesystem::path path = program.parent_path() / folder / "libhoist_vqsort.so";
    if (!std::filesystem::exists(path, ignored)) continue;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded
    if (library != nullptr) {
      return reinterpret_cast<SortFunction>(::dlsym(library, "hoist_vqsort_u128"));
    }
    log(LogLevel::warn, "sort: no vector sort: {}", ::dlerror());
  }
  return nullptr;
}

SortFunction vqsort() {
  static const SortFunction function = load_vqsort();
  return function;
}

void vector_sort(Entry* entries, size_t count) {
  count <= kInsertionSort ? plain_sort(entries, count) : vqsort()(entries, count);
}

}  // namespace

SortFunction sort_function(size_t total) {
  return total >= kWorthLoading && vqsort() != nullptr ? vector_sort : plain_sort;
}

}  // namespace hoist::sort
