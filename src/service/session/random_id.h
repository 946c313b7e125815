// Names that nobody guesses.
#pragma once

#include <string>

namespace hoist::service {

// 128 bits of the kernel's randomness as 32 hexadecimal digits.
std::string random_id();

}  // namespace hoist::service
