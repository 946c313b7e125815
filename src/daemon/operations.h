// What the daemon serves besides allocation: the registry of operations.
#pragma once

#include <cstdint>
#include <span>

#include "device/remote/served_operation.h"

namespace hoist::daemon {

std::span<const device::remote::ServedOperation* const> served_operations();
// Null: no such.
const device::remote::ServedOperation* find_operation(uint32_t number);

}  // namespace hoist::daemon
