#include "px/place/host_arrays.h"

#include <algorithm>
#include <vector>

#include "device/buffer.h"
#include "px/wait.h"

namespace hoist::px {
namespace {

uint64_t bytes_of(const ir::Array& array, const ir::Argument& argument) {
  return argument.length * static_cast<uint64_t>(ir::bytes(array.element));
}

// The arrays on a GPU, for one launch.
class Copies {
 public:
  Copies(device::Stream& stream, const ir::Kernel& kernel, std::span<const ir::Argument> arguments)
      : stream_(stream),
        kernel_(kernel),
        host_(arguments),
        there_(arguments.begin(), arguments.end()) {}

  Status bring() {
    for (size_t i = 0; i < there_.size(); ++i) {
      const ir::Array* array = kernel_.arguments[i].array;
      if (!array) continue;
      const uint64_t size = bytes_of(*array, host_[i]);
      // Also what is only written: the kernel may leave elements as they are.
      Result<device::Buffer> buffer =
          device::Buffer::allocate(stream_, std::max<uint64_t>(1, size));
      if (!buffer) return buffer.error();
      there_[i].data = buffer->data();
      buffers_.push_back(*std::move(buffer));
      if (size == 0) continue;
      if (Status copied = stream_.copy(there_[i].data, host_[i].data, size); !copied) return copied;
    }
    return {};
  }
  Status bring_back() {
    for (size_t i = 0; i < there_.size(); ++i) {
      const ir::Array* array = kernel_.arguments[i].array;
      if (!array || array->direction == ir::Direction::in || host_[i].length == 0) continue;
      const uint64_t size = bytes_of(*array, host_[i]);
      if (Status copied = stream_.copy(host_[i].data, there_[i].data, size); !copied) return copied;
    }
    return stream_.synchronize();
  }
  std::span<const ir::Argument> arguments() const { return there_; }

 private:
  device::Stream& stream_;
  const ir::Kernel& kernel_;
  const std::span<const ir::Argument> host_;
  std::vector<ir::Argument> there_;
  std::vector<device::Buffer> buffers_;
};

}  // namespace

Status run_on_host_arrays(const Program& program, device::Stream& stream, const ir::Kernel& kernel,
                          const ir::Grid& grid, std::span<const ir::Argument> arguments,
                          std::stop_source& stop, const std::function<bool()>& wants_stop,
                          int threads) {
  const auto is_wanted = [&] { return wants_stop && wants_stop(); };
  const auto launch = [&](std::span<const ir::Argument> given) -> Status {
    const LaunchOptions options = {.stop = stop.get_token(), .threads = threads};
    if (Status done = program.launch(stream, kernel, grid, given, options); !done) return done;
    return wait_or_stop(stream, stop, is_wanted);
  };
  if (program.target() != Target::cuda) return launch(arguments);
  // Wrong arguments are told before anything is copied.
  if (Status can = ir::check_launch(kernel, grid, arguments); !can) return can;
  Copies copies(stream, kernel, arguments);
  Status done = copies.bring();
  if (done) done = launch(copies.arguments());
  if (done) done = copies.bring_back();
  if (!done) (void)stream.synchronize();  // before the memory goes
  return done;
}

}  // namespace hoist::px
