#include "ops/gemm/first_products.h"

#include <utility>

#include "base/quiet_thread.h"
#include "device/buffer.h"
#include "device/stream.h"
#include "ops/gemm/kernel.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

// Large enough for the kernels that large products use.
constexpr int64_t kExtent = 1024;

Status run_product(const device::Stream& stream, char type) {
  const size_t bytes = static_cast<size_t>(kExtent * kExtent) * element_size(type);
  auto buffer = device::Buffer::allocate(stream, 3 * bytes);
  if (!buffer) return buffer.error();
  std::byte* const memory = buffer->view().data;
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = type;
  call.trans_a = call.trans_b = 'N';
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = kExtent;
  call.alpha[0] = 1;
  call.a = memory;
  call.b = memory + bytes;
  call.c = memory + 2 * bytes;
  // Not from numbers that another client left there.
  Status done = stream.device().fill(memory, std::byte{0}, 3 * bytes, stream.handle());
  return done ? enqueue(stream, call) : done;
}

}  // namespace

Status run_first_products(device::Device& device) {
  Result<device::Stream> stream = device::Stream::create(device);
  if (!stream) return stream.error();
  for (const char type : {'d', 's', 'z', 'c'}) {
    if (Status done = run_product(*stream, type); !done) return done;
  }
  return stream->synchronize();
}

FirstProducts::~FirstProducts() {
  if (thread_.joinable()) thread_.join();
}

Status FirstProducts::ask(device::Device& device) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::none) {
    Result<std::thread> thread = start_quiet_thread([this, &device] {
      Status done = work_(device);
      const std::lock_guard lock(mutex_);
      if (!done && done.error().code == ErrorCode::unavailable) outcome_ = std::move(done);
      state_ = State::done;
    });
    if (!thread) return {};
    thread_ = std::move(*thread);
    state_ = State::under_way;
  }
  if (state_ == State::done) return outcome_;
  return fail(ErrorCode::unavailable, "cuBLAS is being loaded");
}

}  // namespace hoist::gemm
