// Which memory of this process may be read: a value that looks like a pointer is followed only
// where it leads into a mapping that is readable, ordinary memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hoist::qsort {

class Mappings {
 public:
  // Reads /proc/self/maps as it is now. False where that cannot be had, or there are too many.
  bool load();

  // The end of the readable mapping that `address` lies in; 0 where there is none. Any thread.
  uintptr_t end_of(uintptr_t address) const;

 private:
  struct Range {
    uintptr_t start;
    uintptr_t end;
  };
  static constexpr size_t kMost = 2048;

  bool add_line(const char* line);

  std::array<Range, kMost> ranges_;
  size_t count_ = 0;
};

}  // namespace hoist::qsort
