// What must hold of a module before it is run, emitted or changed by a pass:
//
// - a variable is used inside its scope, behind its declaration; arrays and parameters are the
//   kernel's or function's own, or the module's tables; shared and local ones are not empty;
// - `in` arrays and tables are not written, `out` arrays are not read, atomics find `inout`;
// - collective statements stand under uniform control (ir/uniform.h) and in kernels alone;
// - shared arrays fit kSharedLimit, local ones kLocalLimit;
// - a function gives a value on every path, touches no global or shared memory, asks for no id, and
//   calls only functions before it;
// - launches have extents in x, of integers that their kernel's arguments decide.
//
// Types need no check: the builder has them right.
#pragma once

#include <vector>

#include "ir/module.h"
#include "ir/uniform.h"

namespace hoist::ir {

inline constexpr uint64_t kLocalLimit = uint64_t{16} << 10;  // bytes of a thread

// All that is wrong, in the order of the source; empty: nothing.
std::vector<Problem> verify(const Module& module);

}  // namespace hoist::ir
