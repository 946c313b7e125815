#include "python/px_program.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "device/stream.h"
#include "px/compile_text.h"
#include "px/default_grid.h"
#include "px/place/choose.h"
#include "px/place/host_arrays.h"
#include "python/errors.h"
#include "python/px_scalars.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  raise({ErrorCode::invalid_argument, message});
}

void check_array(const PxArray& given, const ir::Array& array, const std::string& who) {
  if (given.type != array.element) {
    refuse(who + " is " + std::string(ir::name(array.element)) + "[], not an array of " +
           given.type_text);
  }
  if (!given.is_contiguous) {
    refuse(who + " is not contiguous: give a contiguous copy, such as numpy.ascontiguousarray()");
  }
  if (given.is_read_only && array.direction != ir::Direction::in) {
    refuse(who + " is written by the kernel, and the array is read-only");
  }
}

std::string place_of(const PxArray& array) {
  return array.gpu < 0 ? "the CPU" : "cuda:" + std::to_string(array.gpu);
}

}  // namespace

// With streams that wait for the next call. They belong to one process: a child makes its own.
class PxBuilt {
 public:
  PxBuilt(px::Program program, bool finds_faults)
      : program_(std::move(program)), finds_faults_(finds_faults) {}

  const px::Program& program() const { return program_; }

  // Both with the interpreter's lock held.
  std::shared_ptr<device::Stream> take_stream() {
    const pid_t process = ::getpid();
    if (process != process_) {
      process_ = process;
      idle_.clear();
      turn_ = std::make_shared<std::mutex>();
    }
    if (idle_.empty()) {
      return std::make_shared<device::Stream>(value(device::Stream::create(program_.device())));
    }
    auto stream = std::move(idle_.back());
    idle_.pop_back();
    return stream;
  }
  void give_back(std::shared_ptr<device::Stream> stream) { idle_.push_back(std::move(stream)); }
  std::shared_ptr<std::mutex> turn() const { return turn_; }

  // Without the interpreter's lock. `wants_stop` is asked now and then.
  Result<std::optional<ir::Fault>> run(device::Stream& stream, std::mutex& turn,
                                       const ir::Kernel& kernel, const ir::Grid& grid,
                                       std::span<const ir::Argument> arguments, bool are_on_host,
                                       const std::function<bool()>& wants_stop) const {
    std::unique_lock<std::mutex> lock;
    // A fault is the program's: one call at a time, so that each gets its own.
    if (finds_faults_) lock = std::unique_lock(turn);
    std::stop_source stop;
    const std::stop_callback at_the_end(stop_at_the_end(), [&stop] { stop.request_stop(); });
    Status done;
    if (are_on_host) {
      done = px::run_on_host_arrays(program_, stream, kernel, grid, arguments, stop, wants_stop);
    } else {
      done = program_.launch(stream, kernel, grid, arguments);
      if (done) done = stream.synchronize();
    }
    if (!done) return done.error();
    if (finds_faults_) return program_.take_fault(stream);
    return std::optional<ir::Fault>();
  }

 private:
  const px::Program program_;
  const bool finds_faults_;
  pid_t process_ = ::getpid();
  std::vector<std::shared_ptr<device::Stream>> idle_;
  std::shared_ptr<std::mutex> turn_ = std::make_shared<std::mutex>();
};

PxProgram::PxProgram(std::string name, std::string text, px::Target target, bool check_bounds)
    : name_(std::move(name)),
      text_(std::move(text)),
      target_(target),
      check_bounds_(check_bounds),
      lowered_(value(px::read_text(text_, name_))) {
  if (target_ == px::Target::automatic) return;
  built_for(target_ == px::Target::cuda ? *value(device::cuda_device()) : device::cpu_device());
}

PxProgram::~PxProgram() = default;

std::shared_ptr<PxBuilt> PxProgram::built_for(device::Device& device) {
  const auto found = built_.find(&device);
  if (found != built_.end()) return found->second;
  auto program = [&]() -> Result<px::Program> {
    const ReleasedGil released;
    return px::compile_text(
        text_, {.target = target_, .device = &device, .check_bounds = check_bounds_}, name_);
  }();
  const px::Program built = value(std::move(program));
  if (!built.note().empty()) {
    const std::string note = "the interpreter runs " + name_ + ", slowly: " + built.note();
    if (PyErr_WarnEx(PyExc_RuntimeWarning, note.c_str(), 1) != 0) throw nb::python_error();
  }
  const bool finds_faults = check_bounds_ || built.target() == px::Target::interpreter;
  // Another thread may have been faster.
  return built_.try_emplace(&device, std::make_shared<PxBuilt>(built, finds_faults)).first->second;
}

void PxProgram::check_places(const std::string& kernel, const std::vector<PxArray>& arrays) const {
  for (const PxArray& array : arrays) {
    if (array.gpu != arrays.front().gpu) {
      refuse(kernel + " is given arrays on " + place_of(arrays.front()) + " and on " +
             place_of(array) + ": move them to one device");
    }
    const bool may_be_gpu = target_ == px::Target::cuda || target_ == px::Target::automatic;
    if (array.gpu >= 0 && !may_be_gpu) {
      refuse(kernel + " is given arrays on " + place_of(array) +
             ", and was compiled for target=\"" + std::string(name(target_)) +
             "\": move them, or compile for another target");
    }
  }
}

device::Device& PxProgram::device_of(const ir::Kernel& kernel, const ir::Grid& grid,
                                     std::span<const ir::Argument> arguments,
                                     int gpu_of_arrays) const {
  if (gpu_of_arrays >= 0) return *value(device::cuda_device(gpu_of_arrays));
  if (target_ == px::Target::cuda) return *value(device::cuda_device());
  if (target_ != px::Target::automatic) return device::cpu_device();
  return *px::choose_device(kernel, grid, arguments).device;
}

nb::object PxProgram::launch(const std::string& kernel_name, const nb::tuple& arguments,
                             const std::optional<Extents>& blocks,
                             const std::optional<Extents>& threads) {
  const ir::Kernel* kernel = lowered_.module.find_kernel(kernel_name);
  if (!kernel) refuse("no kernel " + kernel_name);

  std::vector<PxArray> arrays;
  std::vector<ir::Argument> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const nb::object given = arguments[i];
    const ir::Kernel::Argument& parameter = kernel->arguments[i];
    const std::string who = kernel_name + ": " + parameter.name();
    if (parameter.scalar) {
      values[i] = ir::Argument::scalar(px_scalar(given, parameter.scalar->type.scalar, who));
      continue;
    }
    arrays.push_back(px_array(given, parameter.array->direction != ir::Direction::in, who));
    check_array(arrays.back(), *parameter.array, who);
    values[i] = ir::Argument::array(arrays.back().data, arrays.back().length);
  }
  check_places(kernel_name, arrays);

  ir::Grid grid;
  if (!threads) {
    grid = value(px::default_grid(lowered_.module, *kernel, values));
  } else if (blocks) {
    grid = {.blocks = *blocks, .threads = *threads};
  } else {
    grid = px::grid_of_blocks(*kernel, values, *threads);
  }

  const int gpu_of_arrays = arrays.empty() ? -1 : arrays.front().gpu;
  device::Device& device = device_of(*kernel, grid, values, gpu_of_arrays);
  const std::shared_ptr<PxBuilt> built = built_for(device);
  auto stream = built->take_stream();
  const auto turn = built->turn();
  // A handler that raises has set the exception; on other threads than the main one none runs.
  bool is_raised = false;
  const auto wants_stop = [&is_raised] {
    const nb::gil_scoped_acquire held;
    return is_raised = PyErr_CheckSignals() != 0;
  };
  auto fault = [&]() -> Result<std::optional<ir::Fault>> {
    const ReleasedGil released;
    for (const PxArray& array : arrays) {
      if (!array.stream) continue;
      if (Status there = device.synchronize(*array.stream); !there) return there.error();
    }
    return built->run(*stream, *turn, *built->program().find_kernel(kernel_name), grid, values,
                      gpu_of_arrays < 0, wants_stop);
  }();
  built->give_back(std::move(stream));
  if (is_raised) throw nb::python_error();
  const std::optional<ir::Fault> found = value(std::move(fault));
  if (!found) return nb::none();
  return nb::make_tuple(ir::describe(*found, name_), found->place.line, found->place.column,
                        found->array, found->index, found->length);
}

}  // namespace hoist::python
