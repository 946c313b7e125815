// The names of the host's part of a file: arrays, and scalars of the kernels that are launched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "px/host/host_program.h"
#include "px/lower/lowering.h"

namespace hoist::px {

class HostNames {
 public:
  HostNames(Lowering& lowering, HostProgram& program) : l_(lowering), program_(program) {}

  // Declares them all, in the innermost block of names, before the order of the statements counts.
  void declare(const std::vector<syntax::Statement>& statements);

  HostArray* find_array(const std::string& name);
  // Null: there is none of that name.
  const HostScalar* use_scalar(const std::string& name);
  // Null where there is none, which is reported.
  const ir::Kernel* kernel_of(const syntax::Statement& launch);
  // What WITH gives for a parameter; null: nothing.
  static const syntax::Expression* given(const syntax::Statement& launch,
                                         const std::string& parameter);

 private:
  HostArray* add_array(const syntax::Name& name, ir::Scalar element, bool is_allocated);
  void declare_allocation(const syntax::Statement& statement);
  void declare_parameters(const syntax::Statement& launch);
  void declare_array(const syntax::Name& name, const ir::Array& array,
                     const syntax::Statement& launch);
  void declare_scalar(const syntax::Name& name, ir::Scalar type, const syntax::Statement& launch,
                      bool is_given);
  void declare_copied(const syntax::Statement& copy);
  void declare_given(const syntax::Statement& launch);
  void report_conflict(const std::string& name, std::string_view known, std::string_view other,
                       const syntax::Statement& launch);

  Lowering& l_;
  HostProgram& program_;
};

}  // namespace hoist::px
