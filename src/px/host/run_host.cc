#include "px/host/run_host.h"

#include <fmt/format.h>

#include <utility>

#include "base/stopwatch.h"
#include "device/buffer.h"
#include "ir/arithmetic.h"
#include "px/lower/evaluate.h"

namespace hoist::px {
namespace {

// Launches of one run: a loop without end in sight is refused.
constexpr size_t kMostLaunches = 10'000'000;

class HostRun {
 public:
  // Without a stream nothing is allocated or copied.
  HostRun(HostValues& values, device::Stream* stream, const LaunchKernel& launch,
          const Source& source)
      : values_(values), stream_(stream), launch_(launch), source_(source) {
    known_.parameter = [this](const ir::Parameter& parameter) { return scalar(parameter); };
    known_.length = [this](const ir::Array& array) { return length(array); };
  }

  Status steps(const std::vector<HostStep>& steps) {
    for (const HostStep& step : steps) {
      if (report_.fault) return {};
      place_ = step.span;
      if (Status done = std::visit([&](const auto& action) { return run(action); }, step.action);
          !done) {
        return done;
      }
    }
    return {};
  }

  // What kernels wrote goes back to the caller's memory.
  Status finish() {
    for (auto& [array, there] : device_arrays_) {
      if (!array->is_allocated && array->is_written) {
        if (Status copied = bring_back(*array, there); !copied) return copied;
      }
    }
    return synchronize();
  }

  HostReport take() { return std::move(report_); }
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  struct DeviceArray {
    device::Buffer buffer;
    uint64_t length = 0;
  };

  Error refuse(const std::string& what, const std::string& mend) const {
    const Position at = source_.position(place_.begin);
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} ({}:{}): {}", what, source_.name(), at.line, mend));
  }

  std::optional<uint64_t> scalar(const ir::Parameter& parameter) const {
    for (const auto& [counter, value] : counters_) {
      if (&counter->parameter == &parameter) return value;
    }
    for (const auto& [scalar, value] : values_.scalars) {
      if (&scalar->parameter == &parameter) return value;
    }
    return std::nullopt;
  }

  std::optional<uint64_t> length(const ir::Array& array) const {
    for (const auto& [host, memory] : values_.arrays) {
      if (&host->array == &array) return memory.length;
    }
    for (const auto& [host, there] : device_arrays_) {
      if (&host->array == &array) return there.length;
    }
    return std::nullopt;
  }

  Result<uint64_t> bits(const ir::Expression& expression) const {
    const auto value = evaluate(expression, known_);
    if (value) return *value;
    return refuse("a number is not known here", "allocate an array before its len() is taken");
  }

  Result<int64_t> number(const ir::Expression& expression) const {
    const Result<uint64_t> value = bits(expression);
    if (!value) return value.error();
    return ir::integer_of(expression.type.scalar, *value);
  }

  Result<uint64_t> count(const ir::Expression& expression, const std::string& who) const {
    const Result<int64_t> value = number(expression);
    if (!value) return value.error();
    constexpr int64_t kMost = int64_t{1} << 48;
    if (*value >= 0 && *value <= kMost) return static_cast<uint64_t>(*value);
    return refuse(fmt::format("{} of {}", who, *value), "give the numbers that it comes from");
  }

  static size_t bytes_of(const HostArray& array, uint64_t elements) {
    return elements * static_cast<size_t>(ir::bytes(array.array.element));
  }

  Status synchronize() { return stream_ ? stream_->synchronize() : Status(); }

  Result<DeviceArray*> allocate(const HostArray& array, uint64_t elements) {
    DeviceArray& there = device_arrays_[&array];
    there.length = elements;
    if (!stream_) return &there;
    Result<device::Buffer> buffer =
        device::Buffer::allocate(stream_->device(), std::max<size_t>(1, bytes_of(array, elements)));
    if (!buffer) {
      device_arrays_.erase(&array);
      return buffer.error();
    }
    there.buffer = *std::move(buffer);
    return &there;
  }

  // The array on the device; one of the caller's is brought there.
  Result<DeviceArray*> on_device(const HostArray& array) {
    const auto found = device_arrays_.find(&array);
    if (found != device_arrays_.end()) return &found->second;
    if (array.is_allocated) {
      return refuse(fmt::format("{} is not allocated", array.array.name),
                    "write GPU_ALLOC before it is used, and GPU_FREE behind");
    }
    const HostMemory& memory = values_.arrays.at(&array);
    Result<DeviceArray*> made = allocate(array, memory.length);
    if (!made) return made;
    if (Status copied = copy((*made)->buffer.data(), memory.bytes.data(), memory.bytes.size());
        !copied) {
      return copied.error();
    }
    return made;
  }

  Status copy(void* to, const void* from, size_t size) {
    bytes_copied_ += size;
    if (size == 0 || !stream_) return {};
    const Stopwatch watch;
    Status copied = stream_->copy(to, from, size);
    if (copied) copied = stream_->synchronize();
    report_.copy_milliseconds += watch.milliseconds();
    return copied;
  }

  Status bring_back(const HostArray& array, const DeviceArray& there) {
    const HostMemory& memory = values_.arrays.at(&array);
    return copy(memory.bytes.data(), there.buffer.data(), memory.bytes.size());
  }

  Status run(const HostAllocate& step) {
    const Result<uint64_t> elements = count(*step.count, "an array");
    if (!elements) return elements.error();
    Result<DeviceArray*> made = allocate(*step.array, *elements);
    if (!made) return made.error();
    return stream_ ? (*made)->buffer.fill(std::byte{0}) : Status();
  }

  Status run(const HostFree& step) {
    if (device_arrays_.erase(step.array) == 1) return {};
    return refuse(fmt::format("{} is not allocated", step.array->array.name),
                  "write GPU_ALLOC before, and GPU_FREE once");
  }

  Status run(const HostCopy& step) {
    const bool to_gpu = step.to->is_allocated;
    const HostArray& host = to_gpu ? *step.from : *step.to;
    Result<DeviceArray*> there = on_device(to_gpu ? *step.to : *step.from);
    if (!there) return there.error();
    const Result<uint64_t> elements = count(*step.count, "a copy");
    if (!elements) return elements.error();
    const HostMemory& memory = values_.arrays.at(&host);
    if (*elements > memory.length || *elements > (*there)->length) {
      return refuse(fmt::format("a copy of {} elements, of {} to {}", *elements,
                                to_gpu ? memory.length : (*there)->length,
                                to_gpu ? (*there)->length : memory.length),
                    "copy no more than both arrays have");
    }
    // A launch may have taken the host's array, too.
    const auto own = device_arrays_.find(&host);
    if (own != device_arrays_.end()) {
      if (Status back = bring_back(host, own->second); !back) return back;
      device_arrays_.erase(own);
    }
    const size_t size = bytes_of(host, *elements);
    void* device_data = (*there)->buffer.data();
    return to_gpu ? copy(device_data, memory.bytes.data(), size)
                  : copy(memory.bytes.data(), device_data, size);
  }

  Result<uint32_t> extent(const ir::Expression* expression, const char* who) const {
    if (expression == nullptr) return uint32_t{1};
    const Result<int64_t> value = number(*expression);
    if (!value) return value.error();
    if (*value >= 0 && *value <= 0x7fffffff) return static_cast<uint32_t>(*value);
    return refuse(fmt::format("a launch of {} {}", *value, who), "give 0 to 2147483647");
  }

  Result<ir::Argument> argument(const HostLaunch::Argument& of) {
    if (of.array == nullptr) {
      const Result<uint64_t> value = bits(*of.scalar);
      if (!value) return value.error();
      return ir::Argument::scalar(*value);
    }
    Result<DeviceArray*> there = on_device(*of.array);
    if (!there) return there.error();
    return ir::Argument::array((*there)->buffer.data(), (*there)->length);
  }

  Status run(const HostLaunch& step) {
    ir::Grid grid;
    for (size_t d = 0; d < 3; ++d) {
      const Result<uint32_t> blocks = extent(step.blocks[d], "blocks");
      if (!blocks) return blocks.error();
      const Result<uint32_t> threads = extent(step.threads[d], "threads");
      if (!threads) return threads.error();
      grid.blocks[d] = *blocks;
      grid.threads[d] = *threads;
    }
    std::vector<ir::Argument> arguments;
    for (const HostLaunch::Argument& of : step.arguments) {
      const Result<ir::Argument> value = argument(of);
      if (!value) return value.error();
      arguments.push_back(*value);
    }
    if (report_.launches.size() == kMostLaunches) {
      return refuse(fmt::format("more than {} launches", kMostLaunches), "check the loop's bounds");
    }
    const Stopwatch watch;
    Result<std::optional<ir::Fault>> launched = launch_(*step.kernel, grid, arguments);
    if (!launched) return launched.error();
    if (Status done = synchronize(); !done) return done;
    report_.launches.push_back(
        {step.kernel->name, grid.block_count(), grid.block_threads(), watch.milliseconds()});
    report_.fault = *launched;
    return {};
  }

  Status run(const HostSynchronize&) { return synchronize(); }

  Status run(const HostLoop& loop) {
    const Result<int64_t> from = number(*loop.from);
    if (!from) return from.error();
    const Result<int64_t> to = number(*loop.to);
    if (!to) return to.error();
    const Result<int64_t> step = loop.step == nullptr ? Result<int64_t>(1) : number(*loop.step);
    if (!step) return step.error();
    if (*step == 0) return refuse("a step of 0", "give another STEP");
    for (int64_t i = *from; *step > 0 ? i < *to : i > *to; i += *step) {
      if (report_.fault) break;
      counters_[loop.counter] = static_cast<uint64_t>(i) & ir::mask(ir::Scalar::i32);
      if (Status done = steps(loop.body); !done) return done;
    }
    counters_.erase(loop.counter);
    return {};
  }

  HostValues& values_;
  device::Stream* const stream_;
  const LaunchKernel& launch_;
  const Source& source_;
  Known known_;
  Span place_;
  std::map<const HostScalar*, uint64_t> counters_;
  std::map<const HostArray*, DeviceArray> device_arrays_;
  HostReport report_;
  uint64_t bytes_copied_ = 0;
};

}  // namespace

Result<HostReport> run_host(const HostProgram& program, HostValues& values, device::Stream& stream,
                            const LaunchKernel& launch, const Source& source) {
  HostRun run(values, &stream, launch, source);
  if (Status done = run.steps(program.steps); !done) return done.error();
  if (Status done = run.finish(); !done) return done.error();
  return run.take();
}

Result<HostRehearsal> rehearse_host(const HostProgram& program, HostValues& values,
                                    const UseLaunch& use, uint64_t most, const Source& source) {
  HostRehearsal rehearsal;
  const LaunchKernel count =
      [&](const ir::Kernel& kernel, const ir::Grid& grid,
          std::span<const ir::Argument> arguments) -> Result<std::optional<ir::Fault>> {
    // What ends a run ends this one.
    if (rehearsal.launches == most) {
      rehearsal.is_whole = false;
      return std::optional(ir::Fault());
    }
    ++rehearsal.launches;
    use(kernel, grid, arguments);
    return std::optional<ir::Fault>();
  };
  HostRun run(values, nullptr, count, source);
  if (Status done = run.steps(program.steps); !done) return done.error();
  if (Status done = run.finish(); !done) return done.error();
  rehearsal.bytes_copied = run.bytes_copied();
  return rehearsal;
}

}  // namespace hoist::px
