#include "px/emit/names.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::px {

std::string identifier(std::string_view name) {
  std::string made(name);
  std::ranges::replace_if(
      made,
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !is_letter && !(c >= '0' && c <= '9');
      },
      '_');
  return made;
}

Names::Names(const ir::Module& module) {
  for (const ir::Array& table : module.tables()) add(&table, table.name);
}

Names::Names(const ir::Module& module, const ir::Kernel& kernel) : Names(module) {
  for (const ir::Parameter& scalar : kernel.scalars) add(&scalar, scalar.name);
  for (const ir::Array& array : kernel.arrays) add(&array, array.name);
  for (const ir::Variable& variable : kernel.variables) add(&variable, variable.name);
}

Names::Names(const ir::Module& module, const ir::Function& function) : Names(module) {
  for (const ir::Parameter* parameter : function.parameters) add(parameter, parameter->name);
  for (const ir::Array& array : function.arrays) add(&array, array.name);
  for (const ir::Variable& variable : function.variables) add(&variable, variable.name);
}

std::string Names::fresh(std::string_view base) {
  std::string name = fmt::format("v_{}", identifier(base));
  for (int number = 2; taken_.contains(name); ++number) {
    name = fmt::format("v_{}_{}", identifier(base), number);
  }
  taken_.insert(name);
  return name;
}

void Names::add(const void* thing, std::string_view name) { of_[thing] = fresh(name); }

std::string function_name(const ir::Function& function) { return "f_" + identifier(function.name); }

}  // namespace hoist::px
