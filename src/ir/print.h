// The IR as text: the same module, the same text, whatever the run. For `hoist px emit --stage ir`,
// for tests and for people; nothing reads it.
#pragma once

#include <string>

#include "ir/module.h"

namespace hoist::ir {

// "((a * x[tid]) + y[tid])"; variables by their names, which may repeat.
std::string text_of(const Expression& expression);
// A constant as its type's literal: "-7", "0x1.8p+1", "true".
std::string text_of_constant(Scalar type, uint64_t bits);

std::string text_of(const Kernel& kernel);
std::string text_of(const Function& function);
std::string text_of(const Module& module);

}  // namespace hoist::ir
