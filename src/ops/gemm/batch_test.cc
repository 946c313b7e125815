#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "device/cpu_device.h"
#include "device/test_devices.h"
#include "ops/gemm/check.h"
#include "ops/gemm/estimate.h"
#include "ops/gemm/gemm_testing.h"
#include "ops/gemm/run.h"
#include "ops/gemm/verification.h"

namespace hoist::gemm {
namespace {

using Batch = BatchMaker::Batch;

Batch copy_of(const Batch& batch) {
  Batch copy = batch;
  copy.point(batch);
  return copy;
}

// Product by product, each a call of its own.
void run_one_by_one(const hoist_blas_call& call) {
  for (int64_t at = 0; at < product_count(call); ++at) run_reference(product(call, at));
}

TEST(Batch, ReferenceIsProductByProduct) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Batch batch = BatchMaker(seed, 6, 9).make();
    Batch expected = copy_of(batch);
    run_one_by_one(expected.call);
    run_reference(batch.call);
    ASSERT_EQ(batch.memory[2], expected.memory[2]) << "seed " << seed;
  }
}

// How many numbers differ. The sign of a zero counts nothing: where terms cancel it depends on the
// order in which they are added, which BLAS leaves open.
template <typename Real>
size_t differences(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  size_t count = a.size() != b.size();
  for (size_t at = 0; at + sizeof(Real) <= std::min(a.size(), b.size()); at += sizeof(Real)) {
    Real x;
    Real y;
    std::memcpy(&x, &a[at], sizeof x);
    std::memcpy(&y, &b[at], sizeof y);
    if (x != y && std::memcmp(&x, &y, sizeof x) != 0) ++count;
  }
  return count;
}

class RunBatch : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Gemm, RunBatch, device::kTestDevices, device::device_name);

TEST_P(RunBatch, EqualsProductByProductInAllOfTheMemory) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Batch batch = BatchMaker(seed, seed % 2 == 0 ? 4 : 24, 40).make();
    Batch expected = copy_of(batch);
    run_one_by_one(expected.call);
    ASSERT_EQ(reason_to_pass(batch.call), nullptr) << "seed " << seed;
    const Status done = run(batch.call, device(), transfer, /*panel_bytes=*/1 + seed * 37 % 4096);
    ASSERT_TRUE(done) << done.error().message;
    const bool is_single = batch.call.type == 's' || batch.call.type == 'c';
    for (size_t at = 0; at < 3; ++at) {
      const auto differ = is_single ? differences<float> : differences<double>;
      ASSERT_EQ(differ(batch.memory[at], expected.memory[at]), 0u)
          << "seed " << seed << ", matrix " << at << ", type " << batch.call.type;
    }
  }
}

TEST(Batch, FailureLeavesTheResultsAsTheyWere) {
  int failures = 0;
  for (int operations = 0; operations < 300; ++operations) {
    Batch batch = BatchMaker(static_cast<uint64_t>(operations) + 1, 12, 20).make();
    if (batch.call.beta[0] == 0) continue;
    const std::vector<std::byte> before = batch.memory[2];
    device::FailingDevice device(operations / 2);
    device::PinnedPool pool(device);
    device::Transfer transfer(pool);
    if (run(batch.call, device, transfer, /*panel_bytes=*/256)) continue;
    ++failures;
    ASSERT_EQ(batch.memory[2], before) << "operations " << operations;
  }
  EXPECT_GT(failures, 20);
}

// Batches of one shape: places of three results, of one A and of one B.
TEST(Batch, WhatTouchesIsTheOriginals) {
  std::vector<double> memory(4096);
  const void* results[3] = {&memory[0], &memory[100], &memory[200]};
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = 'd';
  call.trans_a = call.trans_b = 'N';
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = 10;
  call.alpha[0] = 1;
  call.batch.count = 3;
  call.batch.c.items = results;
  call.a = &memory[1000];
  call.b = &memory[2000];
  call.c = &memory[0];
  EXPECT_EQ(reason_to_pass(call), nullptr);
  results[2] = &memory[199];  // one element in common
  EXPECT_STREQ(reason_to_pass(call), "matrices overlap");
  results[2] = &memory[0];
  EXPECT_STREQ(reason_to_pass(call), "matrices overlap");
  results[2] = &memory[200];
  call.a = &memory[299];
  EXPECT_STREQ(reason_to_pass(call), "matrices overlap");
  call.a = &memory[300];
  EXPECT_EQ(reason_to_pass(call), nullptr);
  results[1] = nullptr;
  EXPECT_STREQ(reason_to_pass(call), "parameters that BLAS reports");
  results[1] = &memory[100];
  call.batch.c = {nullptr, 99};
  EXPECT_STREQ(reason_to_pass(call), "matrices overlap");
  call.batch.c = {nullptr, 100};
  EXPECT_EQ(reason_to_pass(call), nullptr);
  call.batch.c = {nullptr, INT64_MAX / 8};
  EXPECT_STREQ(reason_to_pass(call), "matrix too large");
  call.batch.c = {nullptr, INT64_MIN};
  EXPECT_STREQ(reason_to_pass(call), "matrix too large");
  call.batch.c = {nullptr, -100};
  call.c = &memory[200];
  EXPECT_EQ(reason_to_pass(call), nullptr);
  call.routine = HOIST_BLAS_SYMM;
  EXPECT_NE(reason_to_pass(call), nullptr);
  call.routine = HOIST_BLAS_GEMM;
  call.batch.count = INT64_MAX;
  EXPECT_STREQ(reason_to_pass(call), "matrix too large");
}

TEST(Batch, CountsItsProducts) {
  const Batch batch = BatchMaker(9, 12, 30).make();
  hoist_blas_call one = product(batch.call, 0);
  const auto count = static_cast<double>(product_count(batch.call));
  ASSERT_GT(count, 1);
  EXPECT_EQ(operation_count(batch.call), count * operation_count(one));
  EXPECT_NEAR(square_extent(batch.call), std::cbrt(count) * square_extent(one), 1e-6);
  EXPECT_LE(transfer_bytes(batch.call),
            static_cast<uint64_t>(product_count(batch.call)) * transfer_bytes(one));
}

TEST(Batch, VerificationLooksAtEveryProduct) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Batch batch = BatchMaker(seed, 10, 12).make();
    const hoist_blas_call& call = batch.call;
    Verification accepted(call);
    Verification refused(call);
    Batch expected = copy_of(batch);
    run_one_by_one(expected.call);
    batch.memory[2] = expected.memory[2];
    EXPECT_TRUE(accepted.is_same(kReferenceOriginal)) << "seed " << seed;
    const hoist_blas_call wrong = product(call, static_cast<int64_t>(seed) % product_count(call));
    put(static_cast<std::byte*>(wrong.c), call.type, 1e6, 0);
    EXPECT_FALSE(refused.is_same(kReferenceOriginal)) << "seed " << seed;
    refused.restore();
    EXPECT_EQ(batch.memory[2], expected.memory[2]);
  }
}

}  // namespace
}  // namespace hoist::gemm
