// Products of matrices by cuBLASLt, which is loaded at the first one, not linked: it is hundreds of
// megabytes.
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "device/on_device.h"
#include "ops/gemm/planned_product_call.h"

namespace hoist::gemm {
namespace {

struct Library {
  template <typename Function>
  static bool find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
  }
  bool load(void* library) {
    return find(library, "cublasLtCreate", create) &&
           find(library, "cublasLtMatmulDescCreate", new_product) &&
           find(library, "cublasLtMatmulDescDestroy", drop_product) &&
           find(library, "cublasLtMatmulDescSetAttribute", set_product) &&
           find(library, "cublasLtMatrixLayoutCreate", new_layout) &&
           find(library, "cublasLtMatrixLayoutDestroy", drop_layout) &&
           find(library, "cublasLtMatrixLayoutSetAttribute", set_layout) &&
           find(library, "cublasLtMatmulPreferenceCreate", new_preference) &&
           find(library, "cublasLtMatmulPreferenceDestroy", drop_preference) &&
           find(library, "cublasLtMatmulPreferenceSetAttribute", set_preference) &&
           find(library, "cublasLtMatmulAlgoGetHeuristic", choose) &&
           find(library, "cublasLtMatmul", multiply);
  }

  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtMatmulDescCreate)* new_product = nullptr;
  decltype(cublasLtMatmulDescDestroy)* drop_product = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* set_product = nullptr;
  decltype(cublasLtMatrixLayoutCreate)* new_layout = nullptr;
  decltype(cublasLtMatrixLayoutDestroy)* drop_layout = nullptr;
  decltype(cublasLtMatrixLayoutSetAttribute)* set_layout = nullptr;
  decltype(cublasLtMatmulPreferenceCreate)* new_preference = nullptr;
  decltype(cublasLtMatmulPreferenceDestroy)* drop_preference = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* set_preference = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* choose = nullptr;
  decltype(cublasLtMatmul)* multiply = nullptr;
};

const Library* library() {
  static const Library* const found = []() -> const Library* {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
      void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (opened == nullptr) continue;
      auto* const made = new Library;
      if (made->load(opened)) return made;
      delete made;
    }
    return nullptr;
  }();
  return found;
}

// One for each device, kept until the process ends.
cublasStatus_t handle_of(int device, cublasLtHandle_t* handle) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& known = handles[device];
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (known == nullptr) status = library()->create(&known);
  *handle = known;
  return status;
}

// A product that is ready to run. cuBLASLt's matrices lie by columns: a row-major one is its own
// transpose there, so that C' = B' A' is computed.
struct Plan {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t first = nullptr;   // B'
  cublasLtMatrixLayout_t second = nullptr;  // A'
  cublasLtMatrixLayout_t result = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  uint64_t workspace = 0;
  bool is_f64 = false;

  ~Plan() {
    for (const cublasLtMatrixLayout_t layout : {first, second, result}) {
      if (layout != nullptr) (void)library()->drop_layout(layout);
    }
    if (product != nullptr) (void)library()->drop_product(product);
  }
};

cudaDataType_t type_of(int32_t element) {
  constexpr cudaDataType_t kTypes[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
  return kTypes[element];
}
// Sums of factors of 16 bits are f32's.
cublasComputeType_t compute_type(const ProductShape& shape) {
  if (shape.factors == ProductShape::f64) return CUBLAS_COMPUTE_64F;
  const bool is_tf32 = shape.uses_tf32 != 0 && shape.factors == ProductShape::f32;
  return is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

class Planner {
 public:
  Planner(const ProductShape& shape, Plan& plan) : shape_(shape), plan_(plan) {}

  cublasStatus_t run(int device) {
    plan_.is_f64 = shape_.factors == ProductShape::f64;
    try_step([&] { return handle_of(device, &plan_.handle); });
    const cudaDataType_t scale = plan_.is_f64 ? CUDA_R_64F : CUDA_R_32F;
    try_step([&] { return calls_.new_product(&plan_.product, compute_type(shape_), scale); });
    matrix(shape_.b, shape_.depth, shape_.columns, CUBLASLT_MATMUL_DESC_TRANSA, &plan_.first);
    matrix(shape_.a, shape_.rows, shape_.depth, CUBLASLT_MATMUL_DESC_TRANSB, &plan_.second);
    const int64_t row = shape_.result_row != 0 ? shape_.result_row : shape_.columns;
    const ProductMatrix c = {row, 1, shape_.rows * row};
    layout(shape_.result, shape_.columns, shape_.rows, c.row, c.batch, &plan_.result);
    choose();
    return status_;
  }

 private:
  template <typename Step>
  void try_step(const Step& step) {
    if (status_ == CUBLAS_STATUS_SUCCESS) status_ = step();
  }

  void layout(int32_t element, int64_t rows, int64_t columns, int64_t line, int64_t batch,
              cublasLtMatrixLayout_t* made) {
    try_step([&] {
      return calls_.new_layout(made, type_of(element), static_cast<uint64_t>(rows),
                               static_cast<uint64_t>(columns), line);
    });
    if (shape_.batch == 1) return;
    const auto count = static_cast<int32_t>(shape_.batch);
    try_step([&] {
      return calls_.set_layout(*made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    });
    try_step([&] {
      return calls_.set_layout(*made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch,
                               sizeof batch);
    });
  }

  // One that lies by rows is the transpose of what cuBLASLt sees, as it is wanted.
  void matrix(const ProductMatrix& matrix, int64_t rows, int64_t columns,
              cublasLtMatmulDescAttributes_t attribute, cublasLtMatrixLayout_t* made) {
    const bool by_rows =
        (matrix.column == 1 || columns == 1) && (rows == 1 || matrix.row >= columns);
    if (by_rows)
      return layout(shape_.factors, columns, rows, rows == 1 ? columns : matrix.row, matrix.batch,
                    made);
    layout(shape_.factors, rows, columns, columns == 1 ? rows : matrix.column, matrix.batch, made);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    try_step([&] {
      return calls_.set_product(plan_.product, attribute, &transposed, sizeof transposed);
    });
  }

  void choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    try_step([&] { return calls_.new_preference(&preference); });
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      try_step([&] { return calls_.set_preference(preference, attribute, &value, sizeof value); });
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, shape_.most_workspace);
    // Parts of a sum are added in the type that sums have, not in the result's.
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape_.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape_.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape_.alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape_.alignment);
    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    try_step([&] {
      return calls_.choose(plan_.handle, plan_.product, plan_.first, plan_.second, plan_.result,
                           plan_.result, preference, 1, &best, &found);
    });
    if (preference != nullptr) (void)calls_.drop_preference(preference);
    if (status_ == CUBLAS_STATUS_SUCCESS && found == 0) status_ = CUBLAS_STATUS_NOT_SUPPORTED;
    plan_.algorithm = best.algo;
    plan_.workspace = best.workspaceSize;
  }

  const ProductShape& shape_;
  Plan& plan_;
  const Library& calls_ = *library();
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

int result_of(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? 0 : kLibraryFailed - static_cast<int>(status);
}

}  // namespace
}  // namespace hoist::gemm

extern "C" {

namespace gemm = hoist::gemm;
using hoist::device::on_device;

int hoist_cuda_product_plan(int device, void*, const gemm::ProductShape* shape, void** made,
                            uint64_t* workspace) {
  if (gemm::library() == nullptr) return gemm::kNoLibrary;
  return on_device(device, [=]() -> int {
    auto* const plan = new gemm::Plan;
    const int result = gemm::result_of(gemm::Planner(*shape, *plan).run(device));
    if (result != 0) {
      delete plan;
      return result;
    }
    *made = plan;
    *workspace = plan->workspace;
    return 0;
  });
}

int hoist_cuda_product_run(int device, void* stream, void* made,
                           const gemm::ProductMemory* memory) {
  return on_device(device, [=]() -> int {
    const auto& plan = *static_cast<const gemm::Plan*>(made);
    const float one = 1;
    const float zero = 0;
    const double wide_one = 1;
    const double wide_zero = 0;
    const void* const alpha = plan.is_f64 ? static_cast<const void*>(&wide_one) : &one;
    const void* const beta = plan.is_f64 ? static_cast<const void*>(&wide_zero) : &zero;
    return gemm::result_of(gemm::library()->multiply(
        plan.handle, plan.product, alpha, memory->b, plan.first, memory->a, plan.second, beta,
        memory->c, plan.result, memory->c, plan.result, &plan.algorithm, memory->workspace,
        plan.workspace, static_cast<cudaStream_t>(stream)));
  });
}

int hoist_cuda_product_drop(int, void*, void* made) {
  delete static_cast<gemm::Plan*>(made);
  return 0;
}

}  // extern "C"
