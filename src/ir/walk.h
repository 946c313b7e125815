// Walks over expressions and statements, for what asks "is there any" or "which".
#pragma once

#include <functional>
#include <set>
#include <span>

#include "ir/module.h"

namespace hoist::ir {

// Each statement before those in its blocks.
void for_each_statement(std::span<const Statement> block,
                        const std::function<void(const Statement&)>& use);

// The expressions that a statement itself evaluates, not those in its blocks, whole.
void for_each_expression(const Statement& statement,
                         const std::function<void(const Expression&)>& use);

// An expression and all below it; one that is there twice comes twice.
void for_each_node(const Expression& expression, const std::function<void(const Expression&)>& use);

// Every node of every expression of the block and the blocks in it.
void for_each_node(std::span<const Statement> block,
                   const std::function<void(const Expression&)>& use);

// The arrays that are loaded from or stored to in vectors.
std::set<const Array*> vector_arrays(const Kernel& kernel);

}  // namespace hoist::ir
