#include "ops/gemm/spread.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>

#include "base/quiet_thread.h"
#include "ops/gemm/run.h"

namespace hoist::gemm {
namespace {

// Narrower parts leave a device idle; where the matrices are small, for tests, it does not count.
constexpr int64_t kAlign = 64;

// The axis along which the result is cut; batch where that is one. The other input goes to all
// devices: it is to be the smaller.
Axis axis_of(const hoist_blas_call& call) {
  if (call.batch.count > 1) return Axis::batch;
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      return call.n >= call.m ? Axis::n : Axis::m;
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      return Axis::k;
    default:
      return call.left ? Axis::n : Axis::m;
  }
}

// Items [first, …) of a batch's matrices.
void skip(const void*& base, hoist_blas_items& items, int64_t first, size_t element) {
  if (items.items != nullptr) {
    items.items += first;
    base = items.items[0];
  } else {
    base =
        static_cast<const std::byte*>(base) + first * items.stride * static_cast<int64_t>(element);
  }
}

hoist_blas_call products(const hoist_blas_call& call, int64_t first, int64_t count) {
  const size_t element = element_size(call.type);
  hoist_blas_call part = call;
  const void* c = call.c;
  skip(part.a, part.batch.a, first, element);
  skip(part.b, part.batch.b, first, element);
  skip(c, part.batch.c, first, element);
  part.c = const_cast<void*>(c);
  part.batch.count = count;
  return part;
}

// Rows or columns [first, first + count) of the result, and what of A and B belongs to them.
hoist_blas_call panel(const hoist_blas_call& call, const Plan& plan, Axis axis, int64_t first,
                      int64_t count) {
  const auto place = [&](size_t at) -> std::byte* {
    const Operand& operand = plan.operands[at];
    if (operand.data == nullptr) return nullptr;
    // A square A has the axis of its side twice, which is not one that results are cut along.
    const int64_t elements = operand.column_axis == axis ? first * operand.leading
                             : operand.row_axis == axis  ? first
                                                         : 0;
    return operand.data + static_cast<size_t>(elements) * plan.element;
  };
  hoist_blas_call part = call;
  (axis == Axis::m ? part.m : part.n) = count;
  part.a = place(0);
  part.b = place(1);
  part.c = place(2);
  return part;
}

}  // namespace

std::vector<hoist_blas_call> split(const hoist_blas_call& call, size_t parts) {
  const Axis axis = axis_of(call);
  if (axis == Axis::k || parts <= 1) return {call};
  const int64_t extent = axis == Axis::batch ? call.batch.count : axis == Axis::m ? call.m : call.n;
  const auto wanted = static_cast<int64_t>(parts);
  int64_t width = (extent + wanted - 1) / wanted;
  if (axis != Axis::batch && width >= kAlign) width = (width + kAlign - 1) / kAlign * kAlign;
  const Plan plan = make_plan(call);
  std::vector<hoist_blas_call> result;
  for (int64_t first = 0; first < extent; first += width) {
    const int64_t count = std::min(width, extent - first);
    result.push_back(axis == Axis::batch ? products(call, first, count)
                                         : panel(call, plan, axis, first, count));
  }
  return result;
}

Status run_spread(const hoist_blas_call& call, std::span<const Place> places,
                  uint64_t panel_bytes) {
  const std::vector<hoist_blas_call> parts = split(call, places.size());
  std::vector<std::unique_ptr<UndoableRun>> runs;
  for (size_t at = 0; at < parts.size(); ++at) {
    const Place& place = places[at];
    runs.push_back(std::make_unique<UndoableRun>(parts[at], *place.device, *place.transfer,
                                                 panel_bytes, place.resident));
  }
  std::vector<Status> done(runs.size());
  const auto run_part = [&](size_t at) noexcept {
    try {
      done[at] = runs[at]->run();
    } catch (const std::exception&) {
      done[at] = fail(ErrorCode::exhausted, "no memory");  // short, so that it takes none
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(runs.size());
  for (size_t at = 1; at < runs.size(); ++at) {
    if (auto thread = start_quiet_thread([&run_part, at] { run_part(at); })) {
      threads.push_back(*std::move(thread));
    } else {
      run_part(at);  // one after the other
    }
  }
  run_part(0);
  for (std::thread& thread : threads) thread.join();
  const auto failed =
      std::find_if(done.begin(), done.end(), [](const Status& one) { return !one; });
  if (failed == done.end()) return {};
  for (size_t at = 0; at < runs.size(); ++at) {
    if (done[at]) runs[at]->undo();
  }
  return *failed;
}

}  // namespace hoist::gemm
