// Tensors from fragments on a device, for hoist.tensors: tensors/gpu/holo_context.h,
// holo_streaming.h and multi_gpu.h. python/hoist/_holo_context.py gives them their interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "device/device.h"
#include "python/call_user.h"
#include "python/device_array.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/module.h"
#include "python/one_user.h"
#include "python/released_gil.h"
#include "python/tensors_arrays.h"
#include "tensors/gpu/holo_context.h"
#include "tensors/gpu/holo_streaming.h"
#include "tensors/gpu/multi_gpu.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using namespace tensors;

// The work without the interpreter's lock; raises what it answers.
template <typename Work>
auto released(const Work& work) {
  auto result = [&] {
    const ReleasedGil gil;
    return work();
  }();
  if (!result) raise(result.error());
  if constexpr (!std::is_same_v<decltype(result), Status>) return *std::move(result);
}

DeviceArray array_of(device::Buffer buffer, uint64_t bytes) {
  auto memory = std::make_shared<device::Buffer>(std::move(buffer));
  auto* const data = static_cast<std::byte*>(memory->data());
  return device_array(data, bytes, std::move(memory));
}

uint64_t bytes_as(const TensorDescription& description, DType dtype) {
  return element_count(description.shape).value_or(0) * properties(dtype).bytes /
         properties(dtype).packed;
}

struct Context {
  explicit Context(std::unique_ptr<GpuHoloContext> made) : context(std::move(made)) {}

  std::shared_ptr<GpuHoloContext> context;
};

std::unique_ptr<Context> make_context(const std::string& device, size_t streams) {
  auto made = released([&]() -> Result<std::unique_ptr<GpuHoloContext>> {
    const Result<device::Device*> found = device::find_device(device);
    if (!found) return found.error();
    return GpuHoloContext::create(**found, streams);
  });
  return std::make_unique<Context>(std::move(made));
}

// A tensor that fragments are collected for, as ProgressiveHoloLoader has it.
class Loader {
 public:
  Loader(const Context& context, const TensorDescription& description)
      : context_(context.context),
        loader_(*context_, released([&] { return context_->create_accumulator(description); })) {}

  double feed(size_t fragment, const InputBytes& bytes) {
    const OneUser user(busy_, "accumulator");
    return released([&] { return loader_.feed(fragment, bytes_of(bytes)); });
  }

  // As elements of `dtype`, else of the tensor's own type.
  DeviceArray finalize(const std::optional<std::string>& dtype) {
    const OneUser user(busy_, "accumulator");
    const TensorDescription& description = loader_.tensor().description();
    const DType as = dtype ? dtype_of(*dtype) : description.dtype;
    device::Buffer elements = released([&]() -> Result<device::Buffer> {
      const uint64_t bytes = loader_.tensor().bytes();
      Result<device::Buffer> own =
          device::Buffer::allocate(context_->device(), std::max<uint64_t>(bytes, 1));
      if (!own) return own;
      const device::Span<std::byte> whole = own->view().subspan(0, bytes);
      if (Status done = loader_.finalize(whole); !done) return done.error();
      if (as == description.dtype) return own;
      const uint64_t size = bytes_as(description, as);
      Result<device::Buffer> other =
          device::Buffer::allocate(context_->device(), std::max<uint64_t>(size, 1));
      if (!other) return other;
      Status converted =
          context_->convert(whole, description.dtype, other->view().subspan(0, size), as);
      if (!converted) return converted.error();
      return other;
    });
    return array_of(std::move(elements), bytes_as(description, as));
  }

  bool can_reconstruct() {
    const OneUser user(busy_, "accumulator");
    return loader_.can_reconstruct();
  }
  double quality() {
    const OneUser user(busy_, "accumulator");
    return loader_.quality();
  }
  size_t fragments() {
    const OneUser user(busy_, "accumulator");
    return loader_.tensor().fragments();
  }
  const TensorDescription& description() const { return loader_.tensor().description(); }

 private:
  const std::shared_ptr<GpuHoloContext> context_;  // outlives the accumulator
  std::atomic<bool> busy_ = false;
  ProgressiveHoloLoader loader_;
};

// What the caller's functions raised, on whichever thread; the first one counts.
class Raised {
 public:
  // Calls `function` with the interpreter's lock; nothing where it raised.
  template <typename Function>
  auto call(const Function& function) -> std::optional<decltype(function())> {
    const UsersTurn turn;
    try {
      return function();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      return std::nullopt;
    }
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

// Throws what the function raises.
nb::object call_user(nb::handle function, const nb::tuple& arguments) {
  PyObject* const answer = hoist_call_user(function.ptr(), arguments.ptr());
  if (answer == nullptr) throw nb::python_error();
  return nb::steal(answer);
}

// What fetching shares with its threads, which outlive a call that is stopped. Made and let go of
// with the interpreter's lock held.
struct Fetching {
  explicit Fetching(nb::callable function) : fetch(std::move(function)) {}

  const nb::callable fetch;
  Raised raised;

  std::optional<std::vector<std::byte>> get(size_t part) {
    return raised.call([&] {
      const auto array = nb::cast<InputBytes>(call_user(fetch, nb::make_tuple(part)));
      const std::span<const std::byte> given = bytes_of(array);
      return std::vector<std::byte>(given.begin(), given.end());
    });
  }
};

struct Fetched {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool done = false;
  std::optional<std::vector<std::byte>> bytes;
};

// On a thread of its own, which nobody waits for once `stop` is requested: the user's function may
// take forever.
Result<std::vector<std::byte>> fetch_beside(const std::shared_ptr<Fetching>& fetching, size_t part,
                                            const std::stop_token& stop) {
  if (is_ending()) return fail(ErrorCode::cancelled, "fetching while the interpreter ends");
  const auto fetched = std::make_shared<Fetched>();
  auto thread = start_quiet_thread([mine = fetching, fetched, part]() mutable {
    std::optional<std::vector<std::byte>> bytes;
    {
      const Working working;
      bytes = mine->get(part);
      const UsersTurn turn;  // it may be the last one that has it
      mine.reset();
    }
    const std::lock_guard lock(fetched->mutex);
    fetched->bytes = std::move(bytes);
    fetched->done = true;
    fetched->changed.notify_all();
  });
  if (!thread) return thread.error();
  std::unique_lock lock(fetched->mutex);
  const bool done = fetched->changed.wait(lock, stop, [&] { return fetched->done; });
  lock.unlock();
  if (!done) {
    thread->detach();
    return fail(ErrorCode::cancelled, "stopped (fetching)");
  }
  thread->join();
  if (!fetched->bytes) return fail(ErrorCode::cancelled, "fetching raised");
  return *std::move(fetched->bytes);
}

// A function that answers nothing does not want to stop.
bool goes_on(const nb::object& answer) {
  if (answer.is_none()) return true;
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

// (array, quality, fragments)
nb::tuple stream(const Context& context, size_t depth, const TensorDescription& description,
                 const nb::callable& fetch, double min_quality,
                 std::optional<std::vector<size_t>> order,
                 const std::optional<nb::callable>& on_fragment,
                 const std::optional<std::string>& dtype) {
  const auto fetching = std::make_shared<Fetching>(fetch);
  Raised& raised = fetching->raised;
  StreamOptions options;
  options.min_quality = min_quality;
  options.order = std::move(order);
  if (dtype) options.dtype = dtype_of(*dtype);
  if (on_fragment) {
    options.on_fragment = [&](size_t part, double quality) {
      return raised
          .call([&] { return goes_on(call_user(*on_fragment, nb::make_tuple(part, quality))); })
          .value_or(false);
    };
  }
  StreamingHoloContext streaming(*context.context, depth);
  Result<StreamedTensor> streamed =
      interruptible(true, [&](const std::stop_token& stop) -> Result<StreamedTensor> {
        options.stop = stop;
        const FetchPart fetch_part = [&](size_t part) {
          return fetch_beside(fetching, part, stop);
        };
        return streaming.stream(description, fetch_part, options);
      });
  raised.rethrow();
  if (!streamed) raise(streamed.error());
  const uint64_t bytes = bytes_as(description, streamed->dtype);
  return nb::make_tuple(array_of(std::move(streamed->elements), bytes), streamed->quality,
                        streamed->fragments);
}

using NumberedBytes = std::vector<std::pair<size_t, InputBytes>>;

std::unique_ptr<MultiGpuHoloContext> make_multi(const std::vector<std::string>& names) {
  return released([&]() -> Result<std::unique_ptr<MultiGpuHoloContext>> {
    std::vector<device::Device*> devices;
    for (const std::string& name : names) {
      const Result<device::Device*> found = device::find_device(name);
      if (!found) return found.error();
      devices.push_back(*found);
    }
    return MultiGpuHoloContext::create(devices);
  });
}

class Multi {
 public:
  explicit Multi(const std::vector<std::string>& devices) : context_(make_multi(devices)) {}

  std::string device() const { return context_->primary().properties().id(); }

  DeviceArray reconstruct(const TensorDescription& description, const NumberedBytes& fragments) {
    const OneUser user(busy_, "context");
    std::vector<NumberedPart> parts;
    for (const auto& [number, bytes] : fragments) parts.push_back({number, bytes_of(bytes)});
    device::Buffer elements = released([&] { return context_->reconstruct(description, parts); });
    return array_of(std::move(elements), bytes_as(description, description.dtype));
  }

 private:
  std::unique_ptr<MultiGpuHoloContext> context_;
  std::atomic<bool> busy_ = false;
};

}  // namespace

void define_holo_contexts(nb::module_& module) {
  nb::class_<Context>(module, "HoloContext")
      .def(nb::new_(&make_context), "device"_a, "streams"_a)
      .def_prop_ro("device",
                   [](const Context& it) { return it.context->device().properties().id(); })
      .def("stream", &stream, "depth"_a, "description"_a, "fetch"_a, "min_quality"_a,
           "order"_a.none(), "on_fragment"_a.none(), "dtype"_a.none());

  nb::class_<Loader>(module, "HoloLoader")
      .def(nb::new_([](const Context& context, const TensorDescription& description) {
             return std::make_unique<Loader>(context, description);
           }),
           "context"_a, "description"_a)
      .def("feed", &Loader::feed, "fragment"_a, "bytes"_a)
      .def("finalize", &Loader::finalize, "dtype"_a.none())
      .def_prop_ro("can_reconstruct", &Loader::can_reconstruct)
      .def_prop_ro("quality", &Loader::quality)
      .def_prop_ro("fragments", &Loader::fragments)
      .def_prop_ro("description", &Loader::description, nb::rv_policy::reference_internal);

  nb::class_<Multi>(module, "MultiHoloContext")
      .def(nb::new_([](const std::vector<std::string>& devices) {
             return std::make_unique<Multi>(devices);
           }),
           "devices"_a)
      .def_prop_ro("device", &Multi::device)
      .def("reconstruct", &Multi::reconstruct, "description"_a, "fragments"_a);
}

}  // namespace hoist::python
