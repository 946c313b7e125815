// Element types that convert.cu knows: all of them as input, those from f16 on as output.
#pragma once

#include <cstdint>

namespace hoist::tensors {

enum class NumberKind : uint8_t { i8, u8, f8_e4m3, f8_e5m2, f16, bf16, f32 };

}  // namespace hoist::tensors
