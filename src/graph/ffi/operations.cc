#include <iterator>

#include "graph/ffi/operands.h"
#include "graph/ffi/session.h"
#include "graph/ops/ops.h"
#include "graph/ops/product.h"

namespace hoist::graph::ffi {
namespace {

constexpr const char* kBinaryNames[] = {"vector_add", "vector_sub", "vector_mul", "vector_div",
                                        "minimum",    "maximum",    "min",        "max"};
constexpr const char* kUnaryNames[] = {"abs",  "neg",  "relu",     "relu",   "sigmoid",
                                       "tanh", "gelu", "gelu_erf", "softmax"};
constexpr const char* kScalarNames[] = {"scalar_add", "scalar_mul"};
static_assert(std::size(kBinaryNames) == kBinaries && std::size(kUnaryNames) == kUnaries &&
              std::size(kScalarNames) == kScalars);

Error buffer_too_small(const char* operation, int number, uint64_t length, uint64_t need) {
  return too_small(std::string(operation) + " buffer " + std::to_string(number), length, need);
}

Error short_output() {
  return fail(ErrorCode::invalid_argument,
              "Output buffer needs at least 3 elements for temporaries");
}

// run(a, c) where both are long enough.
template <typename Run>
Status from_one(const char* operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t length,
                Lifetime lifetime, const Run& run) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer from = operands.find(a);
  if (!operands.owns(from)) return operands.refused(from, a, "Buffer A");
  const FoundBuffer to = operands.find(c);
  if (!operands.may_write(to)) return operands.refused(to, c, "Buffer C");
  if (from->length < length) return buffer_too_small(operation, 0, from->length, length);
  if (to->length < length) return buffer_too_small(operation, 1, to->length, length);
  run(from->data, to->data);
  return {};
}

}  // namespace

Status apply(Binary operation, uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
             uint32_t length, Lifetime lifetime) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer first = operands.find(a);
  if (!operands.owns(first)) return operands.refused(first, a, "Buffer A");
  const FoundBuffer second = operands.find(b);
  if (!operands.owns(second)) return operands.refused(second, b, "Buffer B");
  const FoundBuffer to = operands.find(c);
  if (!operands.may_write(to)) return operands.refused(to, c, "Buffer C");
  const char* const name = kBinaryNames[static_cast<size_t>(operation)];
  if (first->length < length) return buffer_too_small(name, 0, first->length, length);
  if (second->length < length) return buffer_too_small(name, 1, second->length, length);
  if (to->length < length) return buffer_too_small(name, 2, to->length, length);
  graph::apply(operation, first->data, second->data, to->data, length);
  return {};
}

Status apply(Unary operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t length,
             Lifetime lifetime) {
  return from_one(kUnaryNames[static_cast<size_t>(operation)], executor, a, c, length, lifetime,
                  [&](const float* from, float* to) { graph::apply(operation, from, to, length); });
}

Status apply(Scalar operation, uint64_t executor, uint64_t a, uint64_t c, uint32_t length,
             float number, Lifetime lifetime) {
  return from_one(
      kScalarNames[static_cast<size_t>(operation)], executor, a, c, length, lifetime,
      [&](const float* from, float* to) { graph::apply(operation, from, number, to, length); });
}

Status clip(uint64_t executor, uint64_t a, uint64_t c, uint32_t length, float low, float high,
            Lifetime lifetime) {
  return from_one("clip", executor, a, c, length, lifetime,
                  [&](const float* from, float* to) { graph::fclip(from, low, high, to, length); });
}

namespace {

// output[0] = run(input), of `length` elements.
template <typename Run>
Result<float> reduced(uint64_t executor, uint64_t input, uint64_t output, uint32_t length,
                      Lifetime lifetime, const Run& run) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer from = operands.find(input);
  if (!operands.owns(from)) return operands.refused(from, input, "Input buffer");
  const FoundBuffer to = operands.find(output);
  if (!operands.may_write(to)) return operands.refused(to, output, "Output buffer");
  if (from->length < length) return too_small("Input buffer", from->length, length);
  if (to->length < 3) return short_output();
  Result<float> result = run(from->data);
  if (result) *to->data = *result;
  return result;
}

}  // namespace

Result<float> reduce_sum(uint64_t executor, uint64_t input, uint64_t output, uint32_t length,
                         Lifetime lifetime) {
  return reduced(executor, input, output, length, lifetime,
                 [&](const float* from) -> Result<float> { return graph::sum(from, length); });
}

Result<float> reduce(Extreme which, uint64_t executor, uint64_t input, uint64_t output,
                     uint32_t length, Lifetime lifetime) {
  return reduced(
      executor, input, output, length, lifetime, [&](const float* from) -> Result<float> {
        if (length == 0) {
          return fail(ErrorCode::invalid_argument,
                      "no elements have no least or largest one: give a length of at least 1");
        }
        return graph::extreme(which, from, length);
      });
}

Result<float> loss(LossSum which, uint64_t executor, uint64_t predictions, uint64_t targets,
                   uint64_t output, uint32_t length, Lifetime lifetime) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer predicted = operands.find(predictions);
  if (!operands.owns(predicted))
    return operands.refused(predicted, predictions, "Predictions buffer");
  const FoundBuffer target = operands.find(targets);
  if (!operands.owns(target)) return operands.refused(target, targets, "Targets buffer");
  const FoundBuffer to = operands.find(output);
  if (!operands.may_write(to)) return operands.refused(to, output, "Output buffer");
  if (predicted->length < length) return too_small("Predictions buffer", predicted->length, length);
  if (target->length < length) return too_small("Targets buffer", target->length, length);
  if (to->length < 3) return short_output();
  const float sum = graph::loss_sum(which, predicted->data, target->data, length);
  const auto count = static_cast<float>(length);
  return *to->data = (which == LossSum::squares ? sum : -sum) / count;
}

namespace {

// As the original, that wrote the whole buffer: exactly so many elements.
Status check_result(const char* what, uint64_t length, uint64_t need) {
  if (length < need) return too_small(what, length, need);
  if (length > need) {
    return fail(ErrorCode::invalid_argument,
                "Buffer size mismatch: expected " + std::to_string(length) + ", got " +
                    std::to_string(need) + ": the result fills its buffer exactly");
  }
  return {};
}

// Whether two arrays have an element in common.
bool overlap(const float* a, uint64_t a_length, const float* b, uint64_t b_length) {
  return a < b + b_length && b < a + a_length;
}

}  // namespace

Status gemm(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t m, uint32_t n,
            uint32_t k, Lifetime lifetime) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer first = operands.find(a);
  if (!operands.owns(first)) return operands.refused(first, a, "Matrix A");
  const FoundBuffer second = operands.find(b);
  if (!operands.owns(second)) return operands.refused(second, b, "Matrix B");
  const FoundBuffer to = operands.find(c);
  if (!operands.may_write(to)) return operands.refused(to, c, "Matrix C");
  const uint64_t a_need = uint64_t{m} * k;
  const uint64_t b_need = uint64_t{k} * n;
  const uint64_t c_need = uint64_t{m} * n;
  if (first->length < a_need) return too_small("Matrix A", first->length, a_need);
  if (second->length < b_need) return too_small("Matrix B", second->length, b_need);
  if (Status ok = check_result("Matrix C", to->length, c_need); !ok) return ok;
  const ProductShape shape = ProductShape::dense(m, n, k);
  if (overlap(first->data, a_need, to->data, c_need) ||
      overlap(second->data, b_need, to->data, c_need)) {
    std::vector<float> apart(c_need);
    multiply(shape, first->data, second->data, apart.data());
    std::copy(apart.begin(), apart.end(), to->data);
  } else {
    multiply(shape, first->data, second->data, to->data);
  }
  return {};
}

Status matvec(uint64_t executor, uint64_t a, uint64_t x, uint64_t y, uint32_t m, uint32_t n,
              Lifetime lifetime) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer matrix = operands.find(a);
  if (!operands.owns(matrix)) return operands.refused(matrix, a, "Matrix A");
  const FoundBuffer vector = operands.find(x);
  if (!operands.owns(vector)) return operands.refused(vector, x, "Vector x");
  const FoundBuffer to = operands.find(y);
  if (!operands.may_write(to)) return operands.refused(to, y, "Vector y");
  const uint64_t a_need = uint64_t{m} * n;
  if (matrix->length < a_need) return too_small("Matrix A", matrix->length, a_need);
  if (vector->length < n) return too_small("Vector x", vector->length, n);
  if (Status ok = check_result("Vector y", to->length, m); !ok) return ok;
  if (overlap(matrix->data, a_need, to->data, m) || overlap(vector->data, n, to->data, m)) {
    std::vector<float> apart(m);
    multiply(m, n, matrix->data, vector->data, apart.data());
    std::copy(apart.begin(), apart.end(), to->data);
  } else {
    multiply(m, n, matrix->data, vector->data, to->data);
  }
  return {};
}

}  // namespace hoist::graph::ffi
