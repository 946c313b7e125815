#include "cli/tensors/packed_speed.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "device/buffer.h"
#include "device/captured_work.h"
#include "device/cuda_memory.h"
#include "tensors/packed/gpu.h"
#include "tensors/packed/library_product.h"
#include "tensors/packed/random_weights.h"

namespace hoist::cli {
namespace {

namespace packed = tensors::packed;
using device::Buffer;
using device::Stream;

constexpr uint64_t kPastCaches = uint64_t{300} << 20;
constexpr uint64_t kBlockWeights = uint64_t{1} << 22;  // made on the CPU, then repeated
constexpr uint64_t kMostCount = 128;
constexpr int kRounds = 11;
constexpr size_t kProducts = 20;  // of a round

// Weights of trained models' kind, `count` of them.
Status fill_gaussian(const Stream& stream, uint16_t* to, uint64_t count) {
  const std::vector<uint16_t> block =
      packed::gaussian_weights(std::min(count, kBlockWeights), 0.02F, 1);
  for (uint64_t done = 0; done < count; done += block.size()) {
    const uint64_t part = std::min<uint64_t>(count - done, block.size());
    const Status copied = stream.device().copy(to + done, block.data(), 2 * part, stream.handle());
    if (!copied) return copied;
  }
  return stream.device().synchronize(stream.handle());
}

}  // namespace

struct PackedSpeed::State {
  const Stream* stream = nullptr;
  packed::Shape shape;
  uint64_t copies = 0;
  Buffer plain;
  Buffer bytes;
  Buffer x;
  Buffer y;

  const uint16_t* plain_copy(size_t i) const {
    return static_cast<const uint16_t*>(plain.data()) + i % copies * shape.weights();
  }
  packed::View view(size_t i) const {
    return *packed::view_of(
        static_cast<const std::byte*>(bytes.data()) + i % copies * shape.bytes(), shape.bytes(),
        shape);
  }
  packed::Operands operands(uint64_t count) const {
    return {static_cast<const uint16_t*>(x.data()), count, shape.columns,
            static_cast<uint16_t*>(y.data()), shape.rows};
  }

  Status make(uint32_t rows, uint32_t columns);
  Result<double> time(const std::function<Status(const Stream&, size_t)>& work) const;
};

Status PackedSpeed::State::make(uint32_t rows, uint32_t columns) {
  shape = {rows, columns, 0};
  copies = kPastCaches / std::max<uint64_t>(shape.plain_bytes(), 1) + 1;
  const auto get = [&](Buffer& buffer, uint64_t size) -> Status {
    Result<Buffer> made = Buffer::allocate(stream->device(), size);
    if (!made) return made.error();
    buffer = std::move(*made);
    return {};
  };
  Status done = get(plain, copies * shape.plain_bytes());
  if (done) done = get(x, 2 * kMostCount * columns);
  if (done) done = get(y, 2 * kMostCount * rows);
  if (done) done = fill_gaussian(*stream, static_cast<uint16_t*>(plain.data()), shape.weights());
  if (done) done = fill_gaussian(*stream, static_cast<uint16_t*>(x.data()), kMostCount * columns);
  if (!done) return done;
  const packed::PlainMatrix matrix = {static_cast<const uint16_t*>(plain.data()), rows, columns,
                                      columns};
  const Result<packed::GpuPlan> plan = packed::plan_on_gpu(*stream, matrix);
  if (!plan) return plan.error();
  shape = plan->shape;
  done = get(bytes, copies * shape.bytes());
  if (done) done = packed::pack_on_gpu(*stream, matrix, *plan, bytes.data());
  const auto repeat = [&](const Buffer& buffer, uint64_t size) {
    auto* const begin = static_cast<std::byte*>(buffer.data());
    for (uint64_t i = 1; done && i < copies; ++i) {
      done = stream->device().copy(begin + i * size, begin, size, stream->handle());
    }
  };
  repeat(plain, shape.plain_bytes());
  repeat(bytes, shape.bytes());
  return done ? stream->device().synchronize(stream->handle()) : done;
}

// Seconds that one piece of work takes, of many recorded ones: work(stream, i) enqueues the i-th.
Result<double> PackedSpeed::State::time(
    const std::function<Status(const Stream&, size_t)>& work) const {
  for (size_t i = 0; i < 2; ++i) {  // libraries choose and load what they need
    if (Status done = work(*stream, i); !done) return done.error();
  }
  if (Status done = stream->device().synchronize(stream->handle()); !done) return done.error();
  const size_t products = std::max<size_t>(kProducts, copies);
  const Result<device::CapturedWork> recorded =
      device::CapturedWork::capture(stream->device(), [&](const Stream& on) -> Status {
        for (size_t i = 0; i < products; ++i) {
          if (Status done = work(on, i); !done) return done;
        }
        return {};
      });
  // What cannot be recorded, memory from the pool say, is enqueued piece by piece.
  const auto enqueue = [&]() -> Status {
    if (recorded) return recorded->launch(*stream);
    for (size_t i = 0; i < products; ++i) {
      if (Status done = work(*stream, i); !done) return done;
    }
    return {};
  };
  Result<device::CudaTimer> timer = device::CudaTimer::create(*stream);
  if (!timer) return timer.error();
  std::vector<double> seconds;
  for (int round = 0; round <= kRounds; ++round) {
    Status done = timer->start();
    if (done) done = enqueue();
    if (!done) return done.error();
    const Result<double> took = timer->stop();
    if (!took) return took.error();
    if (round > 0) seconds.push_back(*took / static_cast<double>(products));
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

PackedSpeed::PackedSpeed(std::unique_ptr<State> state) : state_(std::move(state)) {}
PackedSpeed::PackedSpeed(PackedSpeed&&) noexcept = default;
PackedSpeed::~PackedSpeed() = default;

Result<PackedSpeed> PackedSpeed::prepare(const Stream& stream, uint32_t rows, uint32_t columns) {
  auto state = std::make_unique<State>();
  state->stream = &stream;
  if (Status made = state->make(rows, columns); !made) return made.error();
  return PackedSpeed(std::move(state));
}

Result<ProductTimes> PackedSpeed::measure(uint64_t count) const {
  const packed::Operands operands = state_->operands(std::min(count, kMostCount));
  const Result<double> fused = state_->time([&](const Stream& stream, size_t i) {
    return packed::matmul_on_gpu(stream, state_->view(i), operands);
  });
  if (!fused) return fused.error();
  const Result<double> plain = state_->time([&](const Stream& stream, size_t i) {
    return packed::library_product(stream, state_->plain_copy(i), state_->shape, operands);
  });
  if (!plain) return plain.error();
  return ProductTimes{*fused, *plain};
}

Result<double> PackedSpeed::unpack() const {
  // Into the copies of the plain weights, which stay what they are.
  return state_->time([&](const Stream& stream, size_t i) {
    return packed::unpack_on_gpu(stream, state_->view(i),
                                 const_cast<uint16_t*>(state_->plain_copy(i)));
  });
}

uint64_t PackedSpeed::plain_bytes() const { return state_->shape.plain_bytes(); }
double PackedSpeed::size() const {
  return static_cast<double>(state_->shape.bytes()) /
         static_cast<double>(state_->shape.plain_bytes());
}

}  // namespace hoist::cli
