// Identifiers of emitted code: each thing of a kernel under a name of its own, made of the name
// that the source gives it, and never a word of C++: letters, digits and underscores of it behind
// `v_`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace hoist::px {

// "tid" in, "tid" out; what is no letter, digit or underscore becomes one.
std::string identifier(std::string_view name);

class Names {
 public:
  // Those of the module's tables; with them those of a kernel or function.
  explicit Names(const ir::Module& module);
  Names(const ir::Module& module, const ir::Kernel& kernel);
  Names(const ir::Module& module, const ir::Function& function);

  // The name of a variable, parameter or array.
  const std::string& of(const void* thing) const { return of_.at(thing); }
  // A name that nothing has: "v_i_end".
  std::string fresh(std::string_view base);

 private:
  void add(const void* thing, std::string_view name);

  std::map<const void*, std::string> of_;
  std::set<std::string> taken_;
};

std::string function_name(const ir::Function& function);  // "f_" and its name

}  // namespace hoist::px
