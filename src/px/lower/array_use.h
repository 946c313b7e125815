// What a kernel does with the arrays that it is given.
#pragma once

#include "ir/module.h"

namespace hoist::px {

struct ArrayUse {
  bool is_read = false;  // its elements, before or after the kernel wrote them
  bool is_written = false;
};

ArrayUse use_of(const ir::Kernel& kernel, const ir::Array* array);

}  // namespace hoist::px
