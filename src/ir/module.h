// What one source file becomes: kernels, the functions and tables that they use, and the launches
// that the file itself asks for. ir/builder.h makes the parts.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expression.h"
#include "ir/statement.h"

namespace hoist::ir {

// What every GPU gives a block without being asked.
inline constexpr uint64_t kSharedLimit = uint64_t{48} << 10;  // bytes
inline constexpr uint32_t kMostThreads = 1024;                // of a block

// Computes a value of scalars: no collective statement, no global or shared array, no recursion.
// Every path ends in a Return.
struct Function {
  std::string name;
  Place place;
  Type result;
  std::deque<Parameter> parameters_storage;
  std::vector<const Parameter*> parameters;
  std::deque<Variable> variables;
  std::deque<Array> arrays;  // local ones
  Block body;
};

struct Kernel {
  // Parameters in the order of the source: an array or a scalar.
  struct Argument {
    const Array* array = nullptr;
    const Parameter* scalar = nullptr;

    const std::string& name() const { return array ? array->name : scalar->name; }
  };

  std::string name;
  Place place;
  std::vector<Argument> arguments;
  std::deque<Parameter> scalars;
  std::deque<Array> arrays;  // global, shared and local ones
  std::deque<Variable> variables;
  Block body;

  // -1: none is called so.
  int find_argument(std::string_view name) const;
  uint64_t shared_bytes() const;
};

// Integer expressions of constants, and of the kernel's scalar parameters and lengths.
struct Launch {
  const Kernel* kernel = nullptr;
  Place place;
  std::array<const Expression*, 3> blocks{};
  std::array<const Expression*, 3> threads{};
};

class Module {
 public:
  explicit Module(std::string file) : file_(std::move(file)) {}
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;

  const std::string& file() const { return file_; }  // for messages
  Expressions& expressions() { return *expressions_; }

  // A table in the kernels' sight; values as bits. Names are unique among tables, functions and
  // kernels each: the front end sees to it.
  const Array* add_table(std::string name, Scalar element, std::vector<uint64_t> values);
  // Functions come before those that call them.
  const Function* add(std::unique_ptr<Function> function);
  const Kernel* add(std::unique_ptr<Kernel> kernel);
  void add(Launch launch) { launches_.push_back(launch); }

  const std::deque<Array>& tables() const { return tables_; }
  const std::vector<std::unique_ptr<Function>>& functions() const { return functions_; }
  const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
  const std::vector<Launch>& launches() const { return launches_; }
  const Kernel* find_kernel(std::string_view name) const;  // null: none

  // The functions' and kernels' statements, to be changed in their place: for passes.
  void for_each_body(const std::function<void(Block&)>& change);

 private:
  std::string file_;
  std::unique_ptr<Expressions> expressions_ = std::make_unique<Expressions>();
  std::deque<Array> tables_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<Launch> launches_;
};

}  // namespace hoist::ir
