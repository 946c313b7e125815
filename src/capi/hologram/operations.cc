#include "capi/hologram/answer.h"
#include "graph/ffi/session.h"

using namespace hoist::capi::hologram;
namespace ffi = hoist::graph::ffi;
using hoist::graph::Binary;
using hoist::graph::Extreme;
using hoist::graph::LossSum;
using hoist::graph::Scalar;
using hoist::graph::Unary;

namespace {

constexpr ffi::Lifetime kPinned = ffi::Lifetime::pinned;

hologram_status pair(Binary operation, uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                     uint32_t len) {
  return done([&] { return ffi::apply(operation, executor, a, b, c, len, kPinned); });
}

hologram_status one(Unary operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t len) {
  return done([&] { return ffi::apply(operation, executor, a, c, len, kPinned); });
}

hologram_status with_scalar(Scalar operation, uint64_t executor, uint64_t a, uint64_t c,
                            uint32_t len, float scalar) {
  return done([&] { return ffi::apply(operation, executor, a, c, len, scalar, kPinned); });
}

float extreme(Extreme which, uint64_t executor, uint64_t input, uint64_t output, uint32_t len) {
  return give<float>([&] { return ffi::reduce(which, executor, input, output, len, kPinned); });
}

float loss(LossSum which, uint64_t executor, uint64_t predictions, uint64_t targets,
           uint64_t output, uint32_t len) {
  return give<float>(
      [&] { return ffi::loss(which, executor, predictions, targets, output, len, kPinned); });
}

}  // namespace

extern "C" {

hologram_status hologram_vector_add_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::add, executor, a, b, c, len);
}

hologram_status hologram_vector_sub_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::subtract, executor, a, b, c, len);
}

hologram_status hologram_vector_mul_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::multiply, executor, a, b, c, len);
}

hologram_status hologram_vector_div_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::divide, executor, a, b, c, len);
}

hologram_status hologram_vector_min_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::fmin, executor, a, b, c, len);
}

hologram_status hologram_vector_max_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len) {
  return pair(Binary::fmax, executor, a, b, c, len);
}

hologram_status hologram_vector_abs_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len) {
  return one(Unary::absolute, executor, a, c, len);
}

hologram_status hologram_vector_neg_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len) {
  return one(Unary::negative, executor, a, c, len);
}

hologram_status hologram_vector_relu_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len) {
  return one(Unary::frelu, executor, a, c, len);
}

hologram_status hologram_sigmoid_f32(uint64_t executor, uint64_t input, uint64_t output,
                                     uint32_t len) {
  return one(Unary::sigmoid, executor, input, output, len);
}

hologram_status hologram_tanh_f32(uint64_t executor, uint64_t input, uint64_t output,
                                  uint32_t len) {
  return one(Unary::tanh, executor, input, output, len);
}

hologram_status hologram_gelu_f32(uint64_t executor, uint64_t input, uint64_t output,
                                  uint32_t len) {
  return one(Unary::gelu_tanh, executor, input, output, len);
}

hologram_status hologram_softmax_f32(uint64_t executor, uint64_t input, uint64_t output,
                                     uint32_t len) {
  return one(Unary::softmax, executor, input, output, len);
}

hologram_status hologram_vector_clip_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                         float low, float high) {
  return done([&] { return ffi::clip(executor, a, c, len, low, high, kPinned); });
}

hologram_status hologram_scalar_add_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                        float scalar) {
  return with_scalar(Scalar::add, executor, a, c, len, scalar);
}

hologram_status hologram_scalar_mul_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                        float scalar) {
  return with_scalar(Scalar::multiply, executor, a, c, len, scalar);
}

float hologram_reduce_sum_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len) {
  return give<float>([&] { return ffi::reduce_sum(executor, input, output, len, kPinned); });
}

float hologram_reduce_min_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len) {
  return extreme(Extreme::fmin, executor, input, output, len);
}

float hologram_reduce_max_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len) {
  return extreme(Extreme::fmax, executor, input, output, len);
}

float hologram_mse_loss_f32(uint64_t executor, uint64_t predictions, uint64_t targets,
                            uint64_t output, uint32_t len) {
  return loss(LossSum::squares, executor, predictions, targets, output, len);
}

float hologram_cross_entropy_loss_f32(uint64_t executor, uint64_t predictions, uint64_t targets,
                                      uint64_t output, uint32_t len) {
  return loss(LossSum::cross_entropy, executor, predictions, targets, output, len);
}

float hologram_binary_cross_entropy_loss_f32(uint64_t executor, uint64_t predictions,
                                             uint64_t targets, uint64_t output, uint32_t len) {
  return loss(LossSum::binary_cross_entropy, executor, predictions, targets, output, len);
}

hologram_status hologram_gemm_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t m,
                                  uint32_t k, uint32_t n) {
  return done([&] { return ffi::gemm(executor, a, b, c, m, n, k, kPinned); });
}

hologram_status hologram_matvec_f32(uint64_t executor, uint64_t matrix, uint64_t vector,
                                    uint64_t out, uint32_t rows, uint32_t columns) {
  return done([&] { return ffi::matvec(executor, matrix, vector, out, rows, columns, kPinned); });
}
}
