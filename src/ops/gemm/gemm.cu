// Level-3 BLAS on the device by cuBLAS, in full precision. libcublas is loaded at the first call,
// not linked: it is hundreds of megabytes, and only this operation wants it.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "device/on_device.h"
#include "ops/gemm/call.h"

namespace {

// Beside cudaError_t's own values: these must not meet.
constexpr int kNoLibrary = -1;
constexpr int kCublasFailed = -1000;  // less the cublasStatus_t

// Every routine of one type, with the 64-bit interface.
template <typename T>
struct Routines {
  using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t,
                              int64_t, int64_t, const T*, const T*, int64_t, const T*, int64_t,
                              const T*, T*, int64_t);
  using Batch = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t,
                               int64_t, int64_t, const T*, const T*, int64_t, long long int,
                               const T*, int64_t, long long int, const T*, T*, int64_t,
                               long long int, int64_t);
  using Symm = cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int64_t, int64_t,
                              const T*, const T*, int64_t, const T*, int64_t, const T*, T*,
                              int64_t);
  using Syrk = cublasStatus_t(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t, int64_t,
                              const T*, const T*, int64_t, const T*, T*, int64_t);
  using Trmm = cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                              cublasDiagType_t, int64_t, int64_t, const T*, const T*, int64_t,
                              const T*, int64_t, T*, int64_t);
  using Trsm = cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                              cublasDiagType_t, int64_t, int64_t, const T*, const T*, int64_t, T*,
                              int64_t);
};

class Cublas {
 public:
  // Null where the library is not installed.
  static Cublas* get() {
    static Cublas* const cublas = load();
    return cublas;
  }

  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  // One of each device; used under the lock of the caller.
  cublasStatus_t handle(int device, cublasHandle_t* handle) {
    cublasHandle_t& known = handles_[device];
    if (known == nullptr) {
      const cublasStatus_t created = create_(&known);
      if (created != CUBLAS_STATUS_SUCCESS) return created;
    }
    *handle = known;
    return CUBLAS_STATUS_SUCCESS;
  }

  decltype(cublasSetStream_v2)* set_stream = nullptr;
  decltype(cublasSetMathMode)* set_math_mode = nullptr;
  std::mutex mutex;

 private:
  static Cublas* load() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) continue;
      auto* const cublas = new Cublas;
      cublas->library_ = library;
      cublas->create_ = cublas->function<decltype(cublasCreate_v2)>("cublasCreate_v2");
      cublas->set_stream = cublas->function<decltype(cublasSetStream_v2)>("cublasSetStream_v2");
      cublas->set_math_mode = cublas->function<decltype(cublasSetMathMode)>("cublasSetMathMode");
      if (cublas->create_ != nullptr && cublas->set_stream != nullptr &&
          cublas->set_math_mode != nullptr) {
        return cublas;
      }
      delete cublas;
    }
    return nullptr;
  }

  void* library_ = nullptr;
  decltype(cublasCreate_v2)* create_ = nullptr;
  std::map<int, cublasHandle_t> handles_;
};

cublasOperation_t operation(char trans) {
  return trans == 'N' ? CUBLAS_OP_N : trans == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}

template <typename T>
struct Scalar {
  static T from(const double (&value)[2]) { return static_cast<T>(value[0]); }
};
template <>
struct Scalar<cuComplex> {
  static cuComplex from(const double (&value)[2]) {
    return {static_cast<float>(value[0]), static_cast<float>(value[1])};
  }
};
template <>
struct Scalar<cuDoubleComplex> {
  static cuDoubleComplex from(const double (&value)[2]) { return {value[0], value[1]}; }
};

// The names of cuBLAS's functions for one type.
struct Names {
  const char *gemm, *batch, *symm, *hemm, *syrk, *herk, *trmm, *trsm;
};

template <typename T, typename Real>
int run(const Cublas& cublas, cublasHandle_t handle, const Names& names,
        const hoist_blas_call& call) {
  using Types = Routines<T>;
  const T alpha = Scalar<T>::from(call.alpha);
  const T beta = Scalar<T>::from(call.beta);
  const auto real_alpha = static_cast<Real>(call.alpha[0]);
  const auto real_beta = static_cast<Real>(call.beta[0]);
  const auto* const a = static_cast<const T*>(call.a);
  const auto* const b = static_cast<const T*>(call.b);
  auto* const c = static_cast<T*>(call.c);
  const cublasSideMode_t side = call.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const cublasFillMode_t fill = call.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const cublasOperation_t trans_a = operation(call.trans_a);
  const cublasDiagType_t diagonal = call.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const auto with = [&]<typename Function>(const char* name, auto invoke) -> int {
    auto* const function = cublas.function<Function>(name);
    if (function == nullptr) return kNoLibrary;
    const cublasStatus_t status = invoke(function);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : kCublasFailed - static_cast<int>(status);
  };
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      if (call.batch.count > 1) {
        return with.template operator()<typename Types::Batch>(names.batch, [&](auto* batch) {
          return batch(handle, trans_a, operation(call.trans_b), call.m, call.n, call.k, &alpha, a,
                       call.lda, call.batch.a.stride, b, call.ldb, call.batch.b.stride, &beta, c,
                       call.ldc, call.batch.c.stride, call.batch.count);
        });
      }
      return with.template operator()<typename Types::Gemm>(names.gemm, [&](auto* gemm) {
        return gemm(handle, trans_a, operation(call.trans_b), call.m, call.n, call.k, &alpha, a,
                    call.lda, b, call.ldb, &beta, c, call.ldc);
      });
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      return with.template operator()<typename Types::Symm>(
          call.routine == HOIST_BLAS_SYMM ? names.symm : names.hemm, [&](auto* symm) {
            return symm(handle, side, fill, call.m, call.n, &alpha, a, call.lda, b, call.ldb, &beta,
                        c, call.ldc);
          });
    case HOIST_BLAS_SYRK:
      return with.template operator()<typename Types::Syrk>(names.syrk, [&](auto* syrk) {
        return syrk(handle, fill, trans_a, call.n, call.k, &alpha, a, call.lda, &beta, c, call.ldc);
      });
    case HOIST_BLAS_HERK: {
      using Herk =
          cublasStatus_t(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t, int64_t,
                         const Real*, const T*, int64_t, const Real*, T*, int64_t);
      return with.template operator()<Herk>(names.herk, [&](auto* herk) {
        return herk(handle, fill, trans_a, call.n, call.k, &real_alpha, a, call.lda, &real_beta, c,
                    call.ldc);
      });
    }
    case HOIST_BLAS_TRMM:
      return with.template operator()<typename Types::Trmm>(names.trmm, [&](auto* trmm) {
        return trmm(handle, side, fill, trans_a, diagonal, call.m, call.n, &alpha, a, call.lda, c,
                    call.ldc, c, call.ldc);
      });
    case HOIST_BLAS_TRSM:
      return with.template operator()<typename Types::Trsm>(names.trsm, [&](auto* trsm) {
        return trsm(handle, side, fill, trans_a, diagonal, call.m, call.n, &alpha, a, call.lda, c,
                    call.ldc);
      });
  }
  return cudaErrorInvalidValue;
}

int enqueue(Cublas& cublas, cublasHandle_t handle, const hoist_blas_call& call) {
  static constexpr Names kSingle = {"cublasSgemm_v2_64", "cublasSgemmStridedBatched_64",
                                    "cublasSsymm_v2_64", nullptr,
                                    "cublasSsyrk_v2_64", nullptr,
                                    "cublasStrmm_v2_64", "cublasStrsm_v2_64"};
  static constexpr Names kDouble = {"cublasDgemm_v2_64", "cublasDgemmStridedBatched_64",
                                    "cublasDsymm_v2_64", nullptr,
                                    "cublasDsyrk_v2_64", nullptr,
                                    "cublasDtrmm_v2_64", "cublasDtrsm_v2_64"};
  static constexpr Names kComplex = {"cublasCgemm_v2_64", "cublasCgemmStridedBatched_64",
                                     "cublasCsymm_v2_64", "cublasChemm_v2_64",
                                     "cublasCsyrk_v2_64", "cublasCherk_v2_64",
                                     "cublasCtrmm_v2_64", "cublasCtrsm_v2_64"};
  static constexpr Names kDoubleComplex = {"cublasZgemm_v2_64", "cublasZgemmStridedBatched_64",
                                           "cublasZsymm_v2_64", "cublasZhemm_v2_64",
                                           "cublasZsyrk_v2_64", "cublasZherk_v2_64",
                                           "cublasZtrmm_v2_64", "cublasZtrsm_v2_64"};
  switch (call.type) {
    case 's':
      return run<float, float>(cublas, handle, kSingle, call);
    case 'd':
      return run<double, double>(cublas, handle, kDouble, call);
    case 'c':
      return run<cuComplex, float>(cublas, handle, kComplex, call);
    default:
      return run<cuDoubleComplex, double>(cublas, handle, kDoubleComplex, call);
  }
}

}  // namespace

// Enqueues the call, whose matrices are in the device's memory, on `stream`. cudaError_t; -1 where
// there is no libcublas; -1000 less the cublasStatus_t where cuBLAS failed.
extern "C" int hoist_cuda_gemm(int device, void* stream, const hoist_blas_call* call) {
  Cublas* const cublas = Cublas::get();
  if (cublas == nullptr) return kNoLibrary;
  return hoist::device::on_device(device, [&] {
    const std::lock_guard lock(cublas->mutex);
    cublasHandle_t handle = nullptr;
    cublasStatus_t status = cublas->handle(device, &handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublas->set_stream(handle, static_cast<cudaStream_t>(stream));
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublas->set_math_mode(
          handle, call->may_use_tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
    }
    return status == CUBLAS_STATUS_SUCCESS ? enqueue(*cublas, handle, *call)
                                           : kCublasFailed - static_cast<int>(status);
  });
}
