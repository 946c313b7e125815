// Variables by which CUDA's libraries compute otherwise than they are called to: in TF32, or by
// emulation. What one program's user has set holds neither for a hoistd nor for its other clients.
#pragma once

#include <string_view>

namespace hoist::device {

// Of "NAME=value".
bool changes_precision(std::string_view variable);

// Takes them out of this process's environment, which no other thread may use meanwhile.
void forget_precision_variables();

}  // namespace hoist::device
