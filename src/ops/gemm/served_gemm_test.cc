#include "ops/gemm/served_gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "device/cpu_device.h"
#include "ops/gemm/gemm_testing.h"

namespace hoist::gemm {
namespace {

using device::remote::ServedCall;
using device::remote::ServedMemory;

// As a client sends it (served_gemm.cc).
struct Request {
  std::vector<ServedMemory> memory;
  std::vector<uint64_t> arguments;
  ServedCall call() const { return {device::cpu_device(), {}, memory, arguments}; }
};

ServedMemory range(std::vector<std::byte>& bytes) { return {bytes.data(), bytes.size(), false}; }

Request request_for(const hoist_blas_call& call, std::vector<std::byte> (&memory)[3]) {
  Request request;
  const uint64_t flags = (call.left ? 1U : 0U) | (call.upper ? 2U : 0U) | (call.unit ? 4U : 0U);
  request.arguments = {static_cast<uint64_t>(call.routine),
                       static_cast<uint64_t>(call.type),
                       static_cast<uint64_t>(call.trans_a),
                       static_cast<uint64_t>(call.trans_b),
                       flags,
                       static_cast<uint64_t>(call.m),
                       static_cast<uint64_t>(call.n),
                       static_cast<uint64_t>(call.k),
                       std::bit_cast<uint64_t>(call.alpha[0]),
                       std::bit_cast<uint64_t>(call.alpha[1]),
                       std::bit_cast<uint64_t>(call.beta[0]),
                       std::bit_cast<uint64_t>(call.beta[1]),
                       static_cast<uint64_t>(call.batch.count),
                       static_cast<uint64_t>(call.lda),
                       static_cast<uint64_t>(call.ldb)};
  for (std::vector<std::byte>& bytes : memory) {
    if (!bytes.empty()) request.memory.push_back(range(bytes));
  }
  return request;
}

// A 20×30 matrix, the first in `count`; bytes of all.
constexpr int64_t kRows = 20;
constexpr int64_t kColumns = 30;

struct Product {
  explicit Product(int64_t count) {
    const auto elements = static_cast<size_t>(kRows * kColumns * count);
    for (std::vector<std::byte>& bytes : memory) bytes.resize(elements * sizeof(double));
    for (size_t at = 0; at < elements; ++at) {
      put(memory[0].data() + at * 8, 'd', static_cast<double>(at % 5), 0);
      put(memory[1].data() + at * 8, 'd', static_cast<double>(at % 7), 0);
    }
    memory[2].resize(static_cast<size_t>(kRows * kRows * count) * sizeof(double));
    call.routine = HOIST_BLAS_GEMM;
    call.type = 'd';
    call.trans_a = call.trans_b = 'N';
    call.m = call.n = call.lda = kRows;
    call.k = call.ldb = kColumns;
    call.ldc = kRows;
    call.alpha[0] = 1;
    call.batch.count = count;
    call.batch.a.stride = call.batch.b.stride = kRows * kColumns;
    call.batch.c.stride = kRows * kRows;
    call.a = memory[0].data();
    call.b = memory[1].data();
    call.c = memory[2].data();
  }
  hoist_blas_call call = {};
  std::vector<std::byte> memory[3];
};

TEST(ServedGemm, SaysWhetherItIsReady) {
  const ServedGemm gemm;
  const Request question;
  EXPECT_TRUE(gemm.validate(question.call()));  // the CPU device has nothing to load
  EXPECT_TRUE(gemm.run(question.call()));
}

TEST(ServedGemm, ComputesWhatARequestSays) {
  const ServedGemm served;
  for (const int64_t count : {1, 3}) {
    Product product(count);
    Product expected(count);
    run_reference(expected.call);
    const Request request = request_for(product.call, product.memory);
    const Status valid = served.validate(request.call());
    ASSERT_TRUE(valid) << valid.error().message;
    ASSERT_TRUE(served.run(request.call()));
    EXPECT_EQ(product.memory[2], expected.memory[2]);
  }
}

TEST(ServedGemm, OneInputServesAllProducts) {
  Product product(3);
  Product expected(3);
  expected.call.batch.b.stride = 0;
  run_reference(expected.call);
  product.memory[1].resize(kRows * kColumns * sizeof(double));
  Request request = request_for(product.call, product.memory);
  request.arguments[4] |= 32;
  const ServedGemm served;
  ASSERT_TRUE(served.validate(request.call()));
  ASSERT_TRUE(served.run(request.call()));
  EXPECT_EQ(product.memory[2], expected.memory[2]);
}

// A panel of an A that stays on the device: rows [4, 12) of it.
TEST(ServedGemm, AnInputMayBePartOfAMatrix) {
  Product product(1);
  product.call.m = product.call.ldc = 8;
  product.memory[2].resize(8 * kRows * sizeof(double));
  Product expected = product;
  expected.call.a = product.memory[0].data() + 4 * sizeof(double);
  expected.call.b = product.memory[1].data();
  expected.call.c = expected.memory[2].data();
  run_reference(expected.call);
  Request request = request_for(product.call, product.memory);
  request.memory[0].data += 4 * sizeof(double);
  request.memory[0].size = ((kColumns - 1) * kRows + 8) * sizeof(double);
  const ServedGemm served;
  ASSERT_TRUE(served.validate(request.call()));
  ASSERT_TRUE(served.run(request.call()));
  EXPECT_EQ(product.memory[2], expected.memory[2]);
  request.memory[0].size -= sizeof(double);
  EXPECT_FALSE(served.validate(request.call()));
}

// A GPU's kernels fault where an element begins at any byte, and the device is lost to everybody.
TEST(ServedGemm, RangesBeginWithAnElement) {
  const ServedGemm served;
  for (size_t range = 0; range < 3; ++range) {
    for (const size_t shift : {1, 4, 8}) {
      Product product(1);
      for (std::vector<std::byte>& bytes : product.memory) bytes.resize(bytes.size() + shift);
      Request request = request_for(product.call, product.memory);
      for (ServedMemory& memory : request.memory) memory.size -= shift;
      ASSERT_TRUE(served.validate(request.call()));
      request.memory[range].data += shift;
      EXPECT_EQ(served.validate(request.call()).has_value(), shift == sizeof(double)) << shift;
    }
  }
}

// Whatever numbers a stranger sends: what is let through stays inside its ranges (AddressSanitizer
// looks), and is not computed here where that would take long.
TEST(ServedGemm, LetsNothingThroughThatDoesNotFit) {
  const ServedGemm served;
  std::mt19937_64 random(11);
  const uint64_t odd[] = {0,
                          1,
                          2,
                          3,
                          7,
                          16,
                          19,
                          20,
                          21,
                          29,
                          30,
                          31,
                          63,
                          64,
                          127,
                          128,
                          600,
                          uint64_t{1} << 31,
                          (uint64_t{1} << 31) + 1,
                          uint64_t{1} << 32,
                          uint64_t{1} << 58,
                          uint64_t{1} << 63,
                          UINT64_MAX};
  int accepted = 0;
  for (int round = 0; round < 40000; ++round) {
    Product product(1 + round % 3);
    Request request = request_for(product.call, product.memory);
    for (uint64_t changes = random() % 3; changes > 0; --changes) {
      request.arguments[random() % request.arguments.size()] = odd[random() % std::size(odd)];
    }
    if (random() % 8 == 0) request.memory.pop_back();
    if (random() % 8 == 0) request.memory[0].size -= std::min<uint64_t>(8, request.memory[0].size);
    if (random() % 16 == 0) request.memory[0] = request.memory.back();
    if (random() % 8 == 0 && request.memory[0].size > 8) {
      const size_t shift = 1 + random() % 8;  // and so it ends where it did or before
      request.memory[0].data += shift;
      request.memory[0].size -= shift;
    }
    if (random() % 50 == 0) request.arguments.pop_back();
    if (!served.validate(request.call())) continue;
    ++accepted;
    ASSERT_TRUE(served.run(request.call()));
  }
  EXPECT_GT(accepted, 4000);
  EXPECT_LT(accepted, 38000);
}

}  // namespace
}  // namespace hoist::gemm
