// The names that a line may use: those of the file, of the kernel, and of the blocks around it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "px/text/source.h"

namespace hoist::px {

struct Symbol {
  enum class Kind : uint8_t {
    variable,   // `variable`: of LET or →, or of a loop
    parameter,  // `parameter`: a scalar
    array,      // `array`
    constant,   // `value`: one value of CONST
    function,   // `function`
    kernel,     // `kernel`
    failed,     // its declaration was wrong: what uses it is not reported again
  };

  Kind kind = Kind::failed;
  Span declared = {};
  const ir::Variable* variable = nullptr;
  const ir::Parameter* parameter = nullptr;
  const ir::Array* array = nullptr;
  const ir::Expression* value = nullptr;
  const ir::Function* function = nullptr;
  const ir::Kernel* kernel = nullptr;
  bool is_let = false;   // → assigns it
  bool is_loop = false;  // nothing assigns it
  bool is_used = false;
};

// Blocks of names, the innermost last. The first is the file's.
class Scopes {
 public:
  Scopes() : blocks_(1) {}

  void open() { blocks_.emplace_back(); }
  // Calls `leave` for each name of the block.
  void close(const std::function<void(const std::string&, const Symbol&)>& leave);

  // The innermost one of that name; null: none.
  Symbol* find(std::string_view name);
  // Only in the innermost block.
  Symbol* find_here(std::string_view name);
  // Replaces one of that name in the innermost block.
  Symbol& add(const std::string& name, Symbol symbol);

  std::vector<std::string> names() const;

 private:
  std::vector<std::map<std::string, Symbol, std::less<>>> blocks_;
};

}  // namespace hoist::px
