// Operations on buffers.
#include "python/hologram/call.h"
#include "python/hologram/calls.h"

namespace hoist::python::hologram {
namespace {

namespace ffi = graph::ffi;
using graph::Binary;
using graph::Extreme;
using graph::LossSum;
using graph::Scalar;
using graph::Unary;

// Elements, or multiplications of a product, that take some 10 us.
constexpr uint32_t kShort = 65536;
constexpr uint32_t kShortFunctions = 16384;
constexpr uint64_t kShortProduct = 262144;

template <Binary operation>
Status binary(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t length) {
  return with_lock_if_short(length < kShort, [&](ffi::Lifetime lifetime) {
    return ffi::apply(operation, executor, a, b, c, length, lifetime);
  });
}

template <Unary operation>
Status unary(uint64_t executor, uint64_t a, uint64_t c, uint32_t length) {
  return with_lock_if_short(length < kShortFunctions, [&](ffi::Lifetime lifetime) {
    return ffi::apply(operation, executor, a, c, length, lifetime);
  });
}

template <Scalar operation>
Status scalar(uint64_t executor, uint64_t a, uint64_t c, uint32_t length, float number) {
  return with_lock_if_short(length < kShort, [&](ffi::Lifetime lifetime) {
    return ffi::apply(operation, executor, a, c, length, number, lifetime);
  });
}

Status clip(uint64_t executor, uint64_t a, uint64_t c, uint32_t length, float low, float high) {
  return with_lock_if_short(length < kShort, [&](ffi::Lifetime lifetime) {
    return ffi::clip(executor, a, c, length, low, high, lifetime);
  });
}

Result<float> sum(uint64_t executor, uint64_t input, uint64_t output, uint32_t length) {
  return with_lock_if_short(length < kShort, [&](ffi::Lifetime lifetime) {
    return ffi::reduce_sum(executor, input, output, length, lifetime);
  });
}

template <Extreme which>
Result<float> extreme(uint64_t executor, uint64_t input, uint64_t output, uint32_t length) {
  return with_lock_if_short(length < kShort, [&](ffi::Lifetime lifetime) {
    return ffi::reduce(which, executor, input, output, length, lifetime);
  });
}

template <LossSum which>
Result<float> loss(uint64_t executor, uint64_t predictions, uint64_t targets, uint64_t output,
                   uint32_t length) {
  return with_lock_if_short(length < kShortFunctions, [&](ffi::Lifetime lifetime) {
    return ffi::loss(which, executor, predictions, targets, output, length, lifetime);
  });
}

Status gemm(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t m, uint32_t n,
            uint32_t k) {
  // In double, which does not wrap around.
  const double products = static_cast<double>(m) * n * k;
  return with_lock_if_short(
      products < static_cast<double>(kShortProduct),
      [&](ffi::Lifetime lifetime) { return ffi::gemm(executor, a, b, c, m, n, k, lifetime); });
}

Status matvec(uint64_t executor, uint64_t a, uint64_t x, uint64_t y, uint32_t m, uint32_t n) {
  return with_lock_if_short(uint64_t{m} * n < kShortProduct, [&](ffi::Lifetime lifetime) {
    return ffi::matvec(executor, a, x, y, m, n, lifetime);
  });
}

constexpr const char* kPair = "executor_handle a_handle b_handle c_handle len";
constexpr const char* kOne = "executor_handle a_handle c_handle len";
constexpr const char* kInOut = "executor_handle input_handle output_handle len";
constexpr const char* kLoss = "executor_handle pred_handle target_handle output_handle len";

#define HOIST_PAIR "(executor_handle, a_handle, b_handle, c_handle, len)\n--\n\n"
#define HOIST_ONE "(executor_handle, a_handle, c_handle, len)\n--\n\n"
#define HOIST_IN_OUT "(executor_handle, input_handle, output_handle, len)\n--\n\n"
#define HOIST_LOSS "(executor_handle, pred_handle, target_handle, output_handle, len)\n--\n\n"
#define HOIST_SCALAR "(executor_handle, a_handle, c_handle, len, scalar)\n--\n\n"

constexpr Call kAdd{"vector_add_f32", kPair, "vector_add_f32" HOIST_PAIR "c = a + b",
                    binary<Binary::add>};
constexpr Call kSub{"vector_sub_f32", kPair, "vector_sub_f32" HOIST_PAIR "c = a - b",
                    binary<Binary::subtract>};
constexpr Call kMul{"vector_mul_f32", kPair, "vector_mul_f32" HOIST_PAIR "c = a * b",
                    binary<Binary::multiply>};
constexpr Call kDiv{"vector_div_f32", kPair, "vector_div_f32" HOIST_PAIR "c = a / b",
                    binary<Binary::divide>};
constexpr Call kMin{"vector_min_f32", kPair,
                    "vector_min_f32" HOIST_PAIR "The smaller one; a NaN loses to a number.",
                    binary<Binary::fmin>};
constexpr Call kMax{"vector_max_f32", kPair,
                    "vector_max_f32" HOIST_PAIR "The larger one; a NaN loses to a number.",
                    binary<Binary::fmax>};
constexpr Call kAbs{"vector_abs_f32", kOne, "vector_abs_f32" HOIST_ONE "c = |a|",
                    unary<Unary::absolute>};
constexpr Call kNeg{"vector_neg_f32", kOne, "vector_neg_f32" HOIST_ONE "c = -a",
                    unary<Unary::negative>};
constexpr Call kRelu{"vector_relu_f32", kOne,
                     "vector_relu_f32" HOIST_ONE "c = max(a, 0); 0 for NaN.", unary<Unary::frelu>};
constexpr Call kClip{"vector_clip_f32", "executor_handle a_handle c_handle len min_val max_val",
                     "vector_clip_f32(executor_handle, a_handle, c_handle, len, min_val, max_val)"
                     "\n--\n\nc = min(max(a, min_val), max_val); min_val for NaN.",
                     clip};
constexpr Call kScalarAdd{"scalar_add_f32", "executor_handle a_handle c_handle len scalar",
                          "scalar_add_f32" HOIST_SCALAR "c = a + scalar", scalar<Scalar::add>};
constexpr Call kScalarMul{"scalar_mul_f32", "executor_handle a_handle c_handle len scalar",
                          "scalar_mul_f32" HOIST_SCALAR "c = a * scalar", scalar<Scalar::multiply>};
constexpr Call kSigmoid{"sigmoid_f32", kInOut, "sigmoid_f32" HOIST_IN_OUT "1 / (1 + exp(-x))",
                        unary<Unary::sigmoid>};
constexpr Call kTanh{"tanh_f32", kInOut, "tanh_f32" HOIST_IN_OUT "tanh(x)", unary<Unary::tanh>};
constexpr Call kGelu{"gelu_f32", kInOut,
                     "gelu_f32" HOIST_IN_OUT "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2",
                     unary<Unary::gelu_tanh>};
constexpr Call kSoftmax{"softmax_f32", kInOut,
                        "softmax_f32" HOIST_IN_OUT
                        "exp(x) / sum(exp(x)) over the first len elements.",
                        unary<Unary::softmax>};
constexpr Call kSum{"reduce_sum_f32", kInOut,
                    "reduce_sum_f32" HOIST_IN_OUT
                    "The sum, by pairs; also written to output[0], of at least 3 elements.",
                    sum};
constexpr Call kReduceMin{"reduce_min_f32", kInOut,
                          "reduce_min_f32" HOIST_IN_OUT "The least number; also in output[0].",
                          extreme<Extreme::fmin>};
constexpr Call kReduceMax{"reduce_max_f32", kInOut,
                          "reduce_max_f32" HOIST_IN_OUT "The largest number; also in output[0].",
                          extreme<Extreme::fmax>};
constexpr Call kMse{"mse_loss_f32", kLoss, "mse_loss_f32" HOIST_LOSS "mean((pred - target)^2)",
                    loss<LossSum::squares>};
constexpr Call kCrossEntropy{"cross_entropy_loss_f32", kLoss,
                             "cross_entropy_loss_f32" HOIST_LOSS
                             "-mean(target ln pred); pred are probabilities.",
                             loss<LossSum::cross_entropy>};
constexpr Call kBinaryCrossEntropy{"binary_cross_entropy_loss_f32", kLoss,
                                   "binary_cross_entropy_loss_f32" HOIST_LOSS
                                   "-mean(target ln pred + (1 - target) ln(1 - pred))",
                                   loss<LossSum::binary_cross_entropy>};
constexpr Call kGemm{"gemm_f32", "executor_handle a_handle b_handle c_handle m n k",
                     "gemm_f32(executor_handle, a_handle, b_handle, c_handle, m, n, k)\n--\n\n"
                     "C = A B, row-major: A is m x k, B k x n, C m x n.",
                     gemm};
constexpr Call kMatvec{"matvec_f32", "executor_handle a_handle x_handle y_handle m n",
                       "matvec_f32(executor_handle, a_handle, x_handle, y_handle, m, n)\n--\n\n"
                       "y = A x: A is m x n, row-major.",
                       matvec};

}  // namespace

PyMethodDef* operation_methods() {
  static PyMethodDef methods[] = {method<kAdd>(),
                                  method<kSub>(),
                                  method<kMul>(),
                                  method<kDiv>(),
                                  method<kMin>(),
                                  method<kMax>(),
                                  method<kAbs>(),
                                  method<kNeg>(),
                                  method<kRelu>(),
                                  method<kClip>(),
                                  method<kScalarAdd>(),
                                  method<kScalarMul>(),
                                  method<kSigmoid>(),
                                  method<kTanh>(),
                                  method<kGelu>(),
                                  method<kSoftmax>(),
                                  method<kSum>(),
                                  method<kReduceMin>(),
                                  method<kReduceMax>(),
                                  method<kMse>(),
                                  method<kCrossEntropy>(),
                                  method<kBinaryCrossEntropy>(),
                                  method<kGemm>(),
                                  method<kMatvec>(),
                                  {}};
  return methods;
}

}  // namespace hoist::python::hologram
