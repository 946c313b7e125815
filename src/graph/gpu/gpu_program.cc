#include "graph/gpu/gpu_program.h"

#include <algorithm>

#include "graph/program/fuse.h"

namespace hoist::graph::gpu {

using device::Stream;
using device::StreamHandle;
using program::Id;

namespace {

constexpr size_t kMostContexts = 8;
// Recorded runs of a stream, and addresses that were seen once.
constexpr size_t kMostRecorded = 16;
constexpr size_t kMostSeen = 64;
constexpr uintptr_t kVector = 16;

// CU_STREAM_LEGACY: what no stream means in CUDA.
void* const kLegacyStream = reinterpret_cast<void*>(1);

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

bool is_aligned(std::span<const void* const> inputs, std::span<void* const> outputs) {
  uintptr_t all = 0;
  for (const void* data : inputs) all |= reinterpret_cast<uintptr_t>(data);
  for (const void* data : outputs) all |= reinterpret_cast<uintptr_t>(data);
  return all % kVector == 0;
}

size_t bytes_of(const program::Node& node) {
  return static_cast<size_t>(node.elements()) * program::bytes_of(node.dtype);
}

}  // namespace

Stream stream_of(device::Device& device, StreamHandle handle) {
  if (handle.pointer == nullptr) handle.pointer = kLegacyStream;
  return Stream::borrow(device, handle);
}

struct GpuProgram::Recorded {
  std::vector<const void*> addresses;
  device::CapturedWork work;
};

// What runs on one stream share.
struct GpuProgram::Context {
  StreamHandle stream;
  const GpuCode* code = nullptr;
  device::Buffer arena;
  GpuCode::Room room;
  std::list<Recorded> recorded;              // the last used first
  std::list<std::vector<const void*>> seen;  // once
  std::vector<const void*> addresses;        // of the run under way
};

GpuProgram::GpuProgram(const program::Graph& graph, device::Device& device,
                       const GpuOptions& options)
    : graph_(graph),
      fused_(program::fuse(graph_, true, false)),
      device_(device),
      options_(options) {
  for (const Id id : graph_.inputs()) input_bytes_.push_back(bytes_of(graph_[id]));
  const std::vector<Id>& outputs = graph_.outputs();
  for (const Id id : outputs) {
    output_bytes_.push_back(bytes_of(graph_[id]));
    same_output_.push_back(
        static_cast<size_t>(std::find(outputs.begin(), outputs.end(), id) - outputs.begin()));
  }
}

GpuProgram::~GpuProgram() = default;

Result<std::shared_ptr<GpuProgram>> GpuProgram::compile(const program::Graph& graph,
                                                        device::Device& device,
                                                        const GpuOptions& options) {
  if (device.properties().kind != device::DeviceKind::cuda) {
    return fail(ErrorCode::unsupported,
                "kernels of programs run on CUDA GPUs, not on " + device.properties().id());
  }
  std::shared_ptr<GpuProgram> made(new GpuProgram(graph, device, options));
  if (const auto code = made->code_for(true); !code) return code.error();
  return made;
}

size_t GpuProgram::replays() const {
  const std::scoped_lock lock(mutex_);
  return replays_;
}

Result<const GpuCode*> GpuProgram::code_for(bool is_aligned) {
  std::unique_ptr<const GpuCode>& code = codes_[is_aligned ? 0 : 1];
  if (!code) {
    auto compiled = GpuCode::compile(graph_, fused_, device_, options_, is_aligned);
    if (!compiled) return compiled.error();
    code = *std::move(compiled);
  }
  return code.get();
}

Result<GpuProgram::Context*> GpuProgram::context_for(StreamHandle stream, const GpuCode& code) {
  for (auto at = contexts_.begin(); at != contexts_.end(); ++at) {
    if ((*at)->stream.pointer != stream.pointer || (*at)->code != &code) continue;
    contexts_.splice(contexts_.begin(), contexts_, at);
    return contexts_.front().get();
  }
  // Its memory is freed when the device has done all its work.
  if (contexts_.size() == kMostContexts) contexts_.pop_back();
  auto context = std::make_unique<Context>();
  context->stream = stream;
  context->code = &code;
  context->room = code.new_room();
  if (code.arena_bytes() != 0) {
    Result<device::Buffer> arena = device::Buffer::allocate(device_, code.arena_bytes());
    if (!arena) return arena.error();
    context->arena = *std::move(arena);
  }
  contexts_.push_front(std::move(context));
  return contexts_.front().get();
}

bool GpuProgram::overlaps(const GpuCode& code, std::span<const void* const> inputs,
                          std::span<void* const> outputs) const {
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!overlap(inputs[i], input_bytes_[i], outputs[o], output_bytes_[o])) continue;
      const bool is_same = inputs[i] == outputs[o] && input_bytes_[i] == output_bytes_[o];
      if (!is_same || same_output_[o] != o || !code.may_be_input(o, i)) return true;
    }
  }
  return false;
}

Status GpuProgram::run(StreamHandle handle, std::span<const void* const> inputs,
                       std::span<void* const> outputs) {
  if (inputs.size() != input_bytes_.size() || outputs.size() != output_bytes_.size()) {
    return fail(ErrorCode::invalid_argument,
                "a program with " + std::to_string(input_bytes_.size()) + " inputs and " +
                    std::to_string(output_bytes_.size()) + " outputs is given " +
                    std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  }
  const Stream stream = stream_of(device_, handle);
  handle = stream.handle();
  const std::scoped_lock lock(mutex_);
  const Result<const GpuCode*> code = code_for(is_aligned(inputs, outputs));
  if (!code) return code.error();
  if (overlaps(**code, inputs, outputs)) return run_apart(stream, inputs, outputs);
  const Result<Context*> context = context_for(handle, **code);
  if (!context) return context.error();
  Status done = run_in(**context, stream, inputs, outputs);
  // The device learns of what it cannot recover from.
  if (!done) (void)device_.synchronize(handle);
  return done;
}

Status GpuProgram::enqueue(Context& context, const Stream& stream,
                           std::span<const void* const> inputs, std::span<void* const> outputs) {
  auto* const arena = static_cast<std::byte*>(context.arena.data());
  Status done = context.code->enqueue(stream, inputs, outputs, arena, context.room);
  for (size_t o = 0; done && o < outputs.size(); ++o) {
    if (same_output_[o] == o) continue;
    done = device_.copy(outputs[o], outputs[same_output_[o]], output_bytes_[o], stream.handle());
  }
  return done;
}

// A run is recorded when its addresses come for the second time: those of callers who always have
// new ones would not come again.
Status GpuProgram::run_in(Context& context, const Stream& stream,
                          std::span<const void* const> inputs, std::span<void* const> outputs) {
  if (context.code->launches() <= 1) return enqueue(context, stream, inputs, outputs);
  const Result<bool> is_captured = device::is_being_captured(stream);
  if (!is_captured) return is_captured.error();
  if (*is_captured) return enqueue(context, stream, inputs, outputs);
  std::vector<const void*>& addresses = context.addresses;
  addresses.assign(inputs.begin(), inputs.end());
  addresses.insert(addresses.end(), outputs.begin(), outputs.end());
  auto& recorded = context.recorded;
  const auto known = std::find_if(recorded.begin(), recorded.end(),
                                  [&](const Recorded& it) { return it.addresses == addresses; });
  if (known != recorded.end()) {
    recorded.splice(recorded.begin(), recorded, known);
    ++replays_;
    return recorded.front().work.launch(stream);
  }
  auto& seen = context.seen;
  const auto before = std::find(seen.begin(), seen.end(), addresses);
  if (before == seen.end()) {
    if (seen.size() == kMostSeen) seen.pop_back();
    seen.push_front(addresses);
    return enqueue(context, stream, inputs, outputs);
  }
  seen.erase(before);
  Result<device::CapturedWork> work = device::CapturedWork::capture(
      device_,
      [&](const Stream& capturing) { return enqueue(context, capturing, inputs, outputs); });
  if (!work) return work.error();
  if (recorded.size() == kMostRecorded) recorded.pop_back();
  recorded.push_front({addresses, *std::move(work)});
  ++replays_;
  return recorded.front().work.launch(stream);
}

// Into memory of its own, then to where the results belong.
Status GpuProgram::run_apart(const Stream& stream, std::span<const void* const> inputs,
                             std::span<void* const> outputs) {
  std::vector<device::Buffer> results;
  std::vector<void*> places;
  for (size_t o = 0; o < outputs.size(); ++o) {
    Result<device::Buffer> made =
        device::Buffer::allocate(stream, std::max<size_t>(output_bytes_[o], 1));
    if (!made) return made.error();
    places.push_back(made->data());
    results.push_back(*std::move(made));
  }
  const Result<const GpuCode*> code = code_for(is_aligned(inputs, places));
  if (!code) return code.error();
  const Result<Context*> context = context_for(stream.handle(), **code);
  if (!context) return context.error();
  Status done = enqueue(**context, stream, inputs, places);
  for (size_t o = 0; done && o < outputs.size(); ++o) {
    done = device_.copy(outputs[o], places[o], output_bytes_[o], stream.handle());
  }
  return done;
}

}  // namespace hoist::graph::gpu
