#include "python/px_program.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "device/stream.h"
#include "px/default_grid.h"
#include "px/lower/lower.h"
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

  // Without the interpreter's lock.
  Result<std::optional<ir::Fault>> run(device::Stream& stream, std::mutex& turn,
                                       const ir::Kernel& kernel, const ir::Grid& grid,
                                       std::span<const ir::Argument> arguments) const {
    std::unique_lock<std::mutex> lock;
    // A fault is the program's: one call at a time, so that each gets its own.
    if (finds_faults_) lock = std::unique_lock(turn);
    if (Status launched = program_.launch(stream, kernel, grid, arguments); !launched) {
      return launched.error();
    }
    if (finds_faults_) return program_.take_fault(stream);
    if (Status done = stream.synchronize(); !done) return done.error();
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
    : name_(std::move(name)), text_(std::move(text)), target_(target), check_bounds_(check_bounds) {
  if (target_ != px::Target::automatic) built_for(device_of("", {}));
}

PxProgram::~PxProgram() = default;

std::shared_ptr<PxBuilt> PxProgram::built_for(device::Device& device) {
  const auto found = built_.find(&device);
  if (found != built_.end()) return found->second;
  auto program = [&]() -> Result<px::Program> {
    const ReleasedGil released;
    const px::Source source(name_, text_);
    px::Diagnostics diagnostics;
    std::optional<px::Lowered> lowered = px::read(source, diagnostics);
    if (!lowered) return fail(ErrorCode::internal, px::render(source, diagnostics));
    return px::Program::build(
        std::move(lowered->module),
        {.target = target_, .device = &device, .check_bounds = check_bounds_});
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

device::Device& PxProgram::device_of(const std::string& kernel,
                                     const std::vector<PxArray>& arrays) const {
  const PxArray* first = arrays.empty() ? nullptr : arrays.data();
  for (const PxArray& array : arrays) {
    if (array.gpu == first->gpu) continue;
    refuse(kernel + " is given arrays on " + place_of(*first) + " and on " + place_of(array) +
           ": move them to one device");
  }
  const bool wants_gpu = target_ == px::Target::cuda;
  const bool wants_cpu = !wants_gpu && target_ != px::Target::automatic;
  if (first && (first->gpu < 0 ? wants_gpu : wants_cpu)) {
    refuse(kernel + " is given arrays on " + place_of(*first) + ", and was compiled for target=\"" +
           std::string(name(target_)) + "\": move them, or compile for another target");
  }
  if (first ? first->gpu < 0 : !wants_gpu) return device::cpu_device();
  return *value(device::cuda_device(first ? first->gpu : 0));
}

nb::object PxProgram::launch(const std::string& kernel_name, const nb::tuple& arguments,
                             const std::optional<Extents>& blocks,
                             const std::optional<Extents>& threads) {
  // What it takes is of the program that was built, and where to build follows from the arrays:
  // they are seen first.
  std::vector<PxArray> arrays;
  std::vector<size_t> array_at;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const nb::tuple given =
        nb::cast<nb::tuple>(arguments[i]);  // (value, name, is array, is written)
    if (!nb::cast<bool>(given[2])) continue;
    array_at.push_back(i);
    arrays.push_back(px_array(given[0], nb::cast<bool>(given[3]),
                              kernel_name + ": " + nb::cast<nb::str>(given[1]).c_str()));
  }
  device::Device& device = device_of(kernel_name, arrays);
  const std::shared_ptr<PxBuilt> built = built_for(device);
  const px::Program& program = built->program();
  const ir::Kernel* kernel = program.find_kernel(kernel_name);
  if (!kernel) refuse("no kernel " + kernel_name);

  std::vector<ir::Argument> values(arguments.size());
  for (size_t i = 0; i < array_at.size(); ++i) {
    const ir::Array& array = *kernel->arguments[array_at[i]].array;
    check_array(arrays[i], array, kernel_name + ": " + array.name);
    values[array_at[i]] = ir::Argument::array(arrays[i].data, arrays[i].length);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Parameter* scalar = kernel->arguments[i].scalar;
    if (!scalar) continue;
    const nb::tuple given = nb::cast<nb::tuple>(arguments[i]);
    values[i] = ir::Argument::scalar(
        px_scalar(given[0], scalar->type.scalar, kernel_name + ": " + scalar->name));
  }

  ir::Grid grid;
  if (threads) grid.threads = *threads;
  if (blocks) grid.blocks = *blocks;
  if (!blocks && threads) {
    const uint64_t of_block = std::max<uint32_t>(1, grid.threads[0]);
    const uint64_t longest = px::longest_array(*kernel, values);
    grid.blocks[0] =
        static_cast<uint32_t>(std::min<uint64_t>((longest + of_block - 1) / of_block, 0x7fffffff));
  } else if (!blocks) {
    grid = value(px::default_grid(program.module(), *kernel, values));
  }

  auto stream = built->take_stream();
  const auto turn = built->turn();
  auto fault = [&]() -> Result<std::optional<ir::Fault>> {
    const ReleasedGil released;
    for (const PxArray& array : arrays) {
      if (!array.stream) continue;
      if (Status there = device.synchronize(*array.stream); !there) return there.error();
    }
    return built->run(*stream, *turn, *kernel, grid, values);
  }();
  built->give_back(std::move(stream));
  const std::optional<ir::Fault> found = value(std::move(fault));
  if (!found) return nb::none();
  return nb::make_tuple(ir::describe(*found, name_), found->place.line, found->place.column,
                        found->array, found->index, found->length);
}

}  // namespace hoist::python
