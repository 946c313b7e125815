// A BLAS as a program of this machine would use it, for measuring beside it.
#pragma once

#include <string>

#include "base/result.h"
#include "ops/gemm/call.h"

namespace hoist::gemm {

class ProgramBlas {
 public:
  // HOIST_BLAS=FILE, or else the system's libopenblas.so.0 or libblas.so.3, loaded once. Its gemm
  // is found as cblas_dgemm, or with the names that NumPy's and SciPy's wheels use. `unavailable`
  // where there is none.
  static Result<const ProgramBlas*> get();

  const std::string& path() const { return path_; }

  // gemm alone. `unsupported` for another routine, or a type that the library has not.
  Status run(const hoist_blas_call& call) const;

 private:
  static Result<const ProgramBlas*> load();
  void* find(char type) const;

  std::string path_;
  void* library_ = nullptr;
};

}  // namespace hoist::gemm
