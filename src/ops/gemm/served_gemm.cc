#include "ops/gemm/served_gemm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "device/remote/ring_layout.h"
#include "ops/gemm/check.h"
#include "ops/gemm/kernel.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

using device::Device;
using device::remote::ServedCall;

// The request's arguments, by position.
enum Argument : size_t {
  kRoutine,
  kType,
  kTransA,
  kTransB,
  kFlags,  // bit 0: left, 1: upper, 2: unit, 3: TF32, 4 and 5: all products have one A, one B
  kM,
  kN,
  kK,
  kAlphaReal,
  kAlphaImaginary,
  kBetaReal,
  kBetaImaginary,
  kCount,
  kLeadingA,
  kLeadingB,
  kArguments
};
constexpr uint64_t kMostExtent = uint64_t{1} << 31;

// The call that a request describes, without its matrices; false where a number is impossible.
bool parse(std::span<const uint64_t> arguments, hoist_blas_call& call) {
  if (arguments[kRoutine] > HOIST_BLAS_TRSM || arguments[kFlags] > 63) return false;
  for (const Argument at : {kType, kTransA, kTransB}) {
    if (arguments[at] > 0x7f) return false;
  }
  for (const Argument at : {kM, kN, kK, kCount, kLeadingA, kLeadingB}) {
    if (arguments[at] > kMostExtent) return false;
  }
  call.routine = static_cast<hoist_blas_routine>(arguments[kRoutine]);
  call.type = static_cast<char>(arguments[kType]);
  call.trans_a = static_cast<char>(arguments[kTransA]);
  call.trans_b = static_cast<char>(arguments[kTransB]);
  call.left = (arguments[kFlags] & 1) != 0;
  call.upper = (arguments[kFlags] & 2) != 0;
  call.unit = (arguments[kFlags] & 4) != 0;
  call.may_use_tf32 = (arguments[kFlags] & 8) != 0;
  call.batch.count = static_cast<int64_t>(arguments[kCount]);
  call.batch.a.stride = (arguments[kFlags] & 16) != 0 ? 0 : 1;  // place() knows how much
  call.batch.b.stride = (arguments[kFlags] & 32) != 0 ? 0 : 1;
  call.lda = static_cast<int64_t>(arguments[kLeadingA]);
  call.ldb = static_cast<int64_t>(arguments[kLeadingB]);
  call.m = static_cast<int64_t>(arguments[kM]);
  call.n = static_cast<int64_t>(arguments[kN]);
  call.k = static_cast<int64_t>(arguments[kK]);
  call.alpha[0] = std::bit_cast<double>(arguments[kAlphaReal]);
  call.alpha[1] = std::bit_cast<double>(arguments[kAlphaImaginary]);
  call.beta[0] = std::bit_cast<double>(arguments[kBetaReal]);
  call.beta[1] = std::bit_cast<double>(arguments[kBetaImaginary]);
  return true;
}

// The matrices that the call has, in the order of the request's ranges.
std::vector<size_t> matrices(const Plan& plan) {
  std::vector<size_t> present;
  for (size_t at = 0; at < plan.operands.size(); ++at) {
    if (plan.operands[at].rows > 0 && plan.operands[at].columns > 0) present.push_back(at);
  }
  return present;
}

// Elements from the first to the last of all the operand's matrices, which follow one another.
unsigned __int128 range_elements(const Operand& operand, int64_t leading) {
  const auto columns = static_cast<unsigned __int128>(operand.columns);
  const auto rows = static_cast<uint64_t>(operand.rows);
  if (operand.count > 1) return columns * rows * static_cast<uint64_t>(operand.count);
  return (columns - 1) * static_cast<uint64_t>(leading) + rows;
}

// Points the call at the request's memory; false where a range has not its matrix's size or begins
// between two elements.
bool place(const ServedCall& served, hoist_blas_call& call) {
  const Plan plan = make_plan(call);
  const std::vector<size_t> present = matrices(plan);
  if (present.size() != served.memory.size()) return false;
  const std::array<const void**, 2> inputs = {&call.a, &call.b};
  const std::array<int64_t*, 3> leading = {&call.lda, &call.ldb, &call.ldc};
  const std::array<hoist_blas_items*, 3> strides = {&call.batch.a, &call.batch.b, &call.batch.c};
  for (size_t range = 0; range < present.size(); ++range) {
    const size_t at = present[range];
    const Operand& operand = plan.operands[at];
    // The result, and all of a batch, is packed; an input may be a part of one that stays.
    const bool is_packed = at >= inputs.size() || call.batch.count > 1;
    if (is_packed) *leading[at] = operand.rows;
    if (range_elements(operand, *leading[at]) * plan.element != served.memory[range].size) {
      return false;
    }
    // A kernel's misaligned access would be the end of the device for all clients.
    if (reinterpret_cast<uintptr_t>(served.memory[range].data) % plan.element != 0) return false;
    strides[at]->stride = operand.count > 1 ? operand.rows * operand.columns : 0;
    if (at < inputs.size()) {
      *inputs[at] = served.memory[range].data;
    } else {
      call.c = served.memory[range].data;
    }
  }
  return true;
}

// Operations in a nanosecond, at the least: a fourth of what the units for double or single
// precision do at 1 GHz. (Of the GPUs whose multiprocessors have 64 of the former, compute
// capability 6.0 to 10.0, all end in .0; the others have 2.)
double lowest_rate(const device::DeviceProperties& gpu, bool is_double) {
  if (gpu.compute_major == 0) return 1;  // the CPU device, for tests
  const bool has_doubles =
      gpu.compute_minor == 0 && gpu.compute_major >= 6 && gpu.compute_major <= 10;
  const double units = is_double && !has_doubles ? 2 : 64;
  return units * 2 * std::max(gpu.multiprocessors, 1) / 4;
}

// What the call may take, beside others' too.
std::chrono::nanoseconds longest_time(const device::DeviceProperties& gpu,
                                      const hoist_blas_call& call) {
  constexpr double kMost = 3600e9;  // an hour
  const double rate = lowest_rate(gpu, call.type == 'd' || call.type == 'z');
  return std::chrono::nanoseconds(
      static_cast<int64_t>(std::min(operation_count(call) / rate, kMost)));
}

bool is_question(const ServedCall& served) {
  return served.memory.empty() && served.arguments.empty();
}

}  // namespace

ServedGemm::ServedGemm() : ServedOperation(HOIST_REQUEST_GEMM, "gemm") {}

Status ServedGemm::validate(const ServedCall& served) const {
  if (is_question(served)) {
    const bool has_library = served.device.properties().kind == device::DeviceKind::cuda;
    return has_library ? first_products_.ask(served.device) : Status();
  }
  if (served.arguments.size() != kArguments) {
    return fail(ErrorCode::invalid_argument, "not its number of arguments (gemm request)");
  }
  hoist_blas_call call = {};
  if (!parse(served.arguments, call) || !place(served, call)) {
    return fail(ErrorCode::invalid_argument, "ranges that are not its matrices (gemm request)");
  }
  if (const char* reason = reason_to_pass(call)) {
    return fail(ErrorCode::invalid_argument, std::string(reason) + " (gemm request)");
  }
  return {};
}

Status ServedGemm::run(const ServedCall& served) const {
  if (is_question(served)) return {};
  hoist_blas_call call = {};
  if (!parse(served.arguments, call) || !place(served, call)) {
    return fail(ErrorCode::internal, "not validated (gemm request)");
  }
  return enqueue(served.device, served.stream, call);
}

Status request(Device& device, device::StreamHandle stream, const hoist_blas_call& call) {
  const Plan plan = make_plan(call);
  const uint64_t flags = (call.left ? 1U : 0U) | (call.upper ? 2U : 0U) | (call.unit ? 4U : 0U) |
                         (call.may_use_tf32 ? 8U : 0U) | (call.batch.a.stride == 0 ? 16U : 0U) |
                         (call.batch.b.stride == 0 ? 32U : 0U);
  const auto range = [&](const void* data, const Operand& operand) -> Device::Range {
    if (operand.rows == 0) return {data, 0};
    return {data, static_cast<uint64_t>(range_elements(operand, operand.leading)) * plan.element};
  };
  const Device::Range a = range(call.a, plan.operands[0]);
  const Device::Range b = range(call.b, plan.operands[1]);
  const Device::Range c = range(call.c, plan.operands[2]);
  const auto send = [&](std::initializer_list<Device::Range> memory) {
    return device.run_served(
        stream, HOIST_REQUEST_GEMM, memory,
        {static_cast<uint64_t>(call.routine), static_cast<uint64_t>(call.type),
         static_cast<uint64_t>(call.trans_a), static_cast<uint64_t>(call.trans_b), flags,
         static_cast<uint64_t>(call.m), static_cast<uint64_t>(call.n),
         static_cast<uint64_t>(call.k), std::bit_cast<uint64_t>(call.alpha[0]),
         std::bit_cast<uint64_t>(call.alpha[1]), std::bit_cast<uint64_t>(call.beta[0]),
         std::bit_cast<uint64_t>(call.beta[1]), static_cast<uint64_t>(product_count(call)),
         static_cast<uint64_t>(call.lda), static_cast<uint64_t>(call.ldb)},
        longest_time(device.properties(), call));
  };
  return b.size == 0 ? send({a, c}) : send({a, b, c});
}

bool ask_ready(Device& device) {
  const Status answer = device.run_served({}, HOIST_REQUEST_GEMM, {}, {}, {});
  return answer || answer.error().code != ErrorCode::unavailable;
}

}  // namespace hoist::gemm
