#include "ops/gemm/operation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "ops/gemm/estimate.h"
#include "ops/gemm/plan.h"
#include "ops/gemm/program_blas.h"
#include "ops/gemm/session.h"
#include "ops/gemm/square_product.h"
#include "placement/room.h"
#include "takeover/gpu_hint.h"

namespace hoist::gemm {
namespace {

constexpr const char* kTypes = "sdcz";
enum : size_t { kOriginal, kCuda };

// kCuda uses one device; each implementation behind it uses twice as many as the one before.
int devices_of(size_t implementation) { return 1 << (implementation - kCuda); }

// The three matrices get this share of the memory: a BLAS packs copies of them, and others need the
// rest.
constexpr unsigned kMemoryShare = 4;

Result<placement::Run> prepare(char type, uint64_t bytes) {
  if (!hoist_gpu_may_serve()) return fail(ErrorCode::unavailable, "no GPU");
  const Result<const ProgramBlas*> blas = ProgramBlas::get();
  if (!blas) return blas.error();
  // Connecting, or making the context, is not what a call costs.
  const Result<std::shared_ptr<Session>> session = Session::get(std::chrono::seconds(5));
  if (!session) return session.error();
  if (!(*session)->has_gpu()) return fail(ErrorCode::unavailable, "hoistd has no GPU");
  if (const Status room = placement::check_memory(bytes, kMemoryShare); !room) {
    return room.error();
  }
  const auto extent = static_cast<int64_t>(
      std::sqrt(static_cast<double>(bytes) / 3 / static_cast<double>(element_size(type))));
  auto product = std::make_shared<SquareProduct>(type, std::max<int64_t>(extent, 1));
  return [=, blas = *blas, session = *session](size_t implementation) -> Status {
    if (implementation == kOriginal) return blas->run(product->call());
    const int devices = devices_of(implementation);
    if (session->devices(devices, std::chrono::seconds(5)) < devices) {
      return fail(ErrorCode::unavailable, "no hoistd for another GPU");
    }
    return session->run(product->call(), devices);
  };
}

}  // namespace

placement::Operation operation() {
  placement::Operation operation;
  operation.name = "gemm";
  operation.most_bytes = uint64_t{4} << 30;
  operation.growth = kGrowth;
  for (const char* type = kTypes; *type != '\0'; ++type) {
    operation.variants.push_back({.name = std::string(1, *type)});
  }
  operation.implementations = {{.name = "original", .lingers = true}};
  const int most = std::clamp(gpu_count(), 1, Session::kMostDevices);
  for (int devices = 1; devices <= most; devices *= 2) {
    operation.implementations.push_back(
        {.name = implementation_name(devices), .lead = lead_of(devices)});
  }
  operation.prepare = [](size_t variant, const placement::Shape& shape, const std::string&) {
    return prepare(kTypes[variant], shape.bytes);
  };
  return operation;
}

}  // namespace hoist::gemm
