#include "graph/gpu/code.h"

#include <algorithm>
#include <cstring>

#include "graph/gpu/places.h"
#include "ir/passes/simplify.h"
#include "ir/verify.h"
#include "px/emit/cuda.h"

namespace hoist::graph::gpu {

using kernels::KernelStep;
using kernels::Memory;
using kernels::ProductStep;
using kernels::Step;
using program::Graph;
using program::Id;
using program::Node;
using program::Op;

namespace {

// What NVIDIA advises for the widest GPUs.
constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;

int32_t element_of(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::f16:
      return gemm::ProductShape::f16;
    case ir::Scalar::bf16:
      return gemm::ProductShape::bf16;
    case ir::Scalar::f64:
      return gemm::ProductShape::f64;
    default:
      return gemm::ProductShape::f32;
  }
}

// The largest power of two, of 16 at most, that divides all of them.
uint32_t alignment_of(const ProductStep& step, bool is_aligned) {
  const auto bytes = static_cast<int64_t>(ir::bytes(step.factors));
  int64_t all = is_aligned ? 16 : bytes;
  for (const ProductStep::Matrix* matrix : {&step.a, &step.b}) {
    all |= matrix->offset * bytes | (step.batch > 1 ? matrix->batch * bytes : 0);
  }
  if (step.batch > 1) all |= step.rows * step.columns * ir::bytes(step.result);
  return static_cast<uint32_t>(std::min<int64_t>(16, all & -all));
}

}  // namespace

Result<std::unique_ptr<const GpuCode>> GpuCode::compile(const Graph& graph,
                                                        const program::Fused& fused,
                                                        device::Device& device,
                                                        const GpuOptions& options,
                                                        bool is_aligned) {
  std::unique_ptr<GpuCode> code(new GpuCode(device));
  const int processors = device.properties().multiprocessors;
  Result<kernels::Lowered> lowered = kernels::lower(
      graph, fused,
      {.uses_vectors = is_aligned, .multiprocessors = processors > 0 ? processors : 132});
  if (!lowered) return lowered.error();
  code->lowered_ = *std::move(lowered);
  if (Status done = code->compile_kernels(); !done) return done.error();
  code->place_memories(graph);
  if (Status done = code->plan_products(options, is_aligned); !done) return done.error();
  if (Status done = code->upload_constants(graph); !done) return done.error();
  return std::unique_ptr<const GpuCode>(std::move(code));
}

Status GpuCode::compile_kernels() {
  for (const ir::Problem& problem : ir::verify(lowered_.module)) {
    return fail(ErrorCode::internal, "a program's kernel is wrong: " + problem.message);
  }
  ir::simplify(lowered_.module);
  if (!lowered_.module.kernels().empty()) {
    auto module = px::GpuModule::compile(device_, px::emit_cuda(lowered_.module, false).text);
    if (!module) return module.error();
    module_ = *std::move(module);
  }
  for (const Step& step : lowered_.steps) {
    functions_.push_back(nullptr);
    const auto* kernel = std::get_if<KernelStep>(&step);
    if (kernel == nullptr) continue;
    const auto found =
        module_->find(px::cuda_entry_name(*kernel->kernel), kernel->grid.block_threads());
    if (!found) return found.error();
    functions_.back() = *found;
    most_parameters_ = std::max(most_parameters_, 2 * kernel->arguments.size());
  }
  return {};
}

void GpuCode::place_memories(const Graph& graph) {
  const std::vector<Id>& outputs = graph.outputs();
  const ArenaPlan plan = plan_arena(graph, lowered_);
  arena_bytes_ = plan.bytes;
  for (size_t i = 0; i < lowered_.memories.size(); ++i) {
    const Memory& memory = lowered_.memories[i];
    const Node* node = memory.node ? &graph[*memory.node] : nullptr;
    Place place{Place::arena, plan.begins[i]};
    if (node != nullptr && node->op == Op::input) {
      place = {Place::input, static_cast<size_t>(node->numbers[0])};
    } else if (node != nullptr && node->op == Op::constant) {
      place = {Place::constant, 0};
    } else if (node != nullptr) {
      const auto found = std::find(outputs.begin(), outputs.end(), *memory.node);
      if (found != outputs.end()) {
        place = {Place::output, static_cast<size_t>(found - outputs.begin())};
      }
    }
    places_.push_back(place);
  }
  may_be_input_ = find_in_place(graph, lowered_);
}

Status GpuCode::plan_products(const GpuOptions& options, bool is_aligned) {
  uint64_t most = 0;
  for (const Step& step : lowered_.steps) {
    products_.emplace_back();
    const auto* product = std::get_if<ProductStep>(&step);
    if (product == nullptr) continue;
    const auto matrix = [](const ProductStep::Matrix& of) {
      return gemm::ProductMatrix{of.row, of.column, of.batch};
    };
    gemm::ProductShape shape;
    shape.batch = product->batch;
    shape.rows = product->rows;
    shape.columns = product->columns;
    shape.depth = product->depth;
    shape.a = matrix(product->a);
    shape.b = matrix(product->b);
    shape.factors = element_of(product->factors);
    shape.result = element_of(product->result);
    shape.uses_tf32 = options.allows_tf32 ? 1 : 0;
    shape.alignment = alignment_of(*product, is_aligned);
    shape.most_workspace = kMostWorkspace;
    Result<gemm::PlannedProduct> planned = gemm::PlannedProduct::plan(device_, shape);
    if (!planned) return planned.error();
    most = std::max(most, planned->workspace());
    products_.back() = *std::move(planned);
  }
  workspace_ = arena_bytes_;
  arena_bytes_ += most;
  return {};
}

Status GpuCode::upload_constants(const Graph& graph) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].kind != Place::constant) continue;
    places_[i].at = bytes.size();
    const Node& node = graph[*lowered_.memories[i].node];
    append_values(node, bytes);
    bytes.resize((bytes.size() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
  }
  if (bytes.empty()) return {};
  Result<device::Buffer> buffer = device::Buffer::copy_of(device_, bytes);
  if (!buffer) return buffer.error();
  constants_ = *std::move(buffer);
  return {};
}

bool GpuCode::may_be_input(size_t output, size_t input) const {
  return may_be_input_[output][input];
}

GpuCode::Room GpuCode::new_room() const {
  Room room;
  room.addresses.resize(places_.size());
  room.values.resize(most_parameters_);
  for (uint64_t& value : room.values) room.parameters.push_back(&value);
  return room;
}

Status GpuCode::enqueue(const device::Stream& stream, std::span<const void* const> inputs,
                        std::span<void* const> outputs, std::byte* arena, Room& room) const {
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    room.addresses[i] = place.kind == Place::input    ? const_cast<void*>(inputs[place.at])
                        : place.kind == Place::output ? outputs[place.at]
                        : place.kind == Place::arena
                            ? arena + place.at
                            : static_cast<std::byte*>(constants_.data()) + place.at;
  }
  for (size_t step = 0; step < lowered_.steps.size(); ++step) {
    if (products_[step]) {
      const auto& product = std::get<ProductStep>(lowered_.steps[step]);
      const auto at = [&](const ProductStep::Matrix& matrix) {
        return static_cast<std::byte*>(room.addresses[matrix.storage]) +
               matrix.offset * ir::bytes(product.factors);
      };
      const gemm::ProductMemory memory{at(product.a), at(product.b), room.addresses[product.c],
                                       arena + workspace_};
      if (Status done = products_[step]->run(stream, memory); !done) return done;
    } else if (Status done = launch(stream, step, room); !done) {
      return done;
    }
  }
  return {};
}

Status GpuCode::launch(const device::Stream& stream, size_t step, Room& room) const {
  const auto& kernel = std::get<KernelStep>(lowered_.steps[step]);
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const kernels::Storage storage = kernel.arguments[i].storage;
    room.values[2 * i] = reinterpret_cast<uint64_t>(room.addresses[storage]);
    room.values[2 * i + 1] = lowered_.memories[storage].count;
  }
  const device::LaunchShape shape = {.blocks = {kernel.grid.blocks[0], 1, 1},
                                     .threads = {kernel.grid.threads[0], 1, 1}};
  return functions_[step]->launch(stream, shape,
                                  {room.parameters.data(), 2 * kernel.arguments.size()});
}

}  // namespace hoist::graph::gpu
