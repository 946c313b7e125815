#include "ops/gemm/program_blas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/options.h"
#include "ops/gemm/cblas.h"

namespace hoist::gemm {
namespace {

int transpose_number(char trans) {
  return trans == 'N'   ? CBLAS_NO_TRANSPOSE
         : trans == 'T' ? CBLAS_TRANSPOSE
                        : CBLAS_CONJUGATE_TRANSPOSE;
}

// Integers as 64 bits: a routine with 32 reads the lower half of its register or stack slot.
template <typename Scalar>
using CblasGemm = void(int layout, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                       Scalar alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                       Scalar beta, void* c, int64_t ldc);

template <typename Scalar>
void invoke(void* function, const hoist_blas_call& call, Scalar alpha, Scalar beta) {
  reinterpret_cast<CblasGemm<Scalar>*>(function)(
      CBLAS_COLUMN_MAJOR, transpose_number(call.trans_a), transpose_number(call.trans_b), call.m,
      call.n, call.k, alpha, call.a, call.lda, call.b, call.ldb, beta, call.c, call.ldc);
}

}  // namespace

Result<const ProgramBlas*> ProgramBlas::get() {
  static const Result<const ProgramBlas*> blas = load();
  return blas;
}

Result<const ProgramBlas*> ProgramBlas::load() {
  std::vector<std::string> names = {"libopenblas.so.0", "libblas.so.3"};
  const std::string given = option_text(OptionId::blas);
  if (!given.empty()) names = {given};
  for (const std::string& name : names) {
    auto* const blas = new ProgramBlas;  // libraries with threads are not unloaded
    blas->path_ = name;
    blas->library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (blas->library_ != nullptr && blas->find('d') != nullptr) return blas;
    delete blas;
  }
  return fail(ErrorCode::unavailable,
              fmt::format("no BLAS to measure beside ({}): install libopenblas0, or name the "
                          "program's with HOIST_BLAS=FILE",
                          fmt::join(names, ", ")));
}

void* ProgramBlas::find(char type) const {
  for (const char* pattern :
       {"cblas_{}gemm", "scipy_cblas_{}gemm64_", "cblas_{}gemm64_", "scipy_cblas_{}gemm"}) {
    const std::string name = fmt::format(fmt::runtime(pattern), type);
    if (void* const function = ::dlsym(library_, name.c_str())) return function;
  }
  return nullptr;
}

Status ProgramBlas::run(const hoist_blas_call& call) const {
  void* const function = call.routine == HOIST_BLAS_GEMM ? find(call.type) : nullptr;
  if (function == nullptr) {
    return fail(ErrorCode::unsupported, fmt::format("no such routine ({})", path_));
  }
  const std::array<float, 2> alpha = {static_cast<float>(call.alpha[0]),
                                      static_cast<float>(call.alpha[1])};
  const std::array<float, 2> beta = {static_cast<float>(call.beta[0]),
                                     static_cast<float>(call.beta[1])};
  switch (call.type) {
    case 's':
      invoke<float>(function, call, alpha[0], beta[0]);
      break;
    case 'd':
      invoke<double>(function, call, call.alpha[0], call.beta[0]);
      break;
    case 'c':
      invoke<const void*>(function, call, alpha.data(), beta.data());
      break;
    default:
      invoke<const void*>(function, call, call.alpha, call.beta);
      break;
  }
  return {};
}

}  // namespace hoist::gemm
