#include "tensors/gpu/transform_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "device/kernel.h"
#include "ops/gemm/kernel.h"
#include "tensors/gpu/cosine_plan.h"
#include "tensors/gpu/cosine_steps.h"
#include "tensors/gpu/kernel_arguments.h"
#include "tensors/transform/spectral.h"
#include "tensors/transform/values.h"

namespace hoist::tensors {
namespace {

using device::Kernel;

constinit const Kernel<const FragmentCheck*, uint32_t, uint32_t*> check_all_fragments(
    "hoist_cuda_tensors_check_fragments", "check of fragments");
constinit const Kernel<uint64_t, uint32_t, uint64_t, void*> fill_shifts("hoist_cuda_tensors_shifts",
                                                                        "dealing of coefficients");
constinit const Kernel<const DealtValues*, uint64_t, uint64_t, void*, const ElementScale*, void*>
    invert_projection("hoist_cuda_tensors_unproject", "inverse projection");
constinit const Kernel<const DealtValues*, const uint64_t*, const CosinePlan*, const CosinePlan*,
                       void*, void*, const ElementScale*, void*>
    inverse_cosine("hoist_cuda_tensors_inverse_cosine", "inverse cosine transform");
constinit const Kernel<const void*, const void*, float, uint64_t, uint32_t, DType, void*>
    load_vectors("hoist_cuda_tensors_vectors", "singular vectors");
constinit const Kernel<const void*, uint64_t, const ElementScale*, void*> convert_elements(
    "hoist_cuda_tensors_elements", "elements of a tensor");
constinit const Kernel<const void*, uint32_t, uint32_t, void*> fill_runs(
    "hoist_cuda_tensors_runs", "elements that are not finite");

bool is_float_of_kernels(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

float largest_of(DType kind) {
  switch (kind) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return std::bit_cast<float>(0x7f7f0000);
    default:
      return std::numeric_limits<float>::max();
  }
}

Result<device::Buffer> scratch(device::Stream& stream, uint64_t bytes) {
  return device::Buffer::allocate(stream, std::max<uint64_t>(bytes, 16));
}

}  // namespace

bool TransformGpu::supports(const TransformLayout& layout) {
  if (!is_float_of_kernels(layout.dtype)) return false;
  return layout.encoding != HolographicEncoding::spectral ||
         (cosine_plan(layout.matrix.rows) && cosine_plan(layout.matrix.columns));
}

Result<TransformGpu> TransformGpu::create(device::PinnedPool& pool,
                                          const TensorDescription& description) {
  if (Status available = device::cuda_available(); !available) {
    return available.error();
  }
  Result<TransformLayout> layout = transform_layout(description);
  if (!layout) return layout.error();
  if (!supports(*layout)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} x {} {} elements: no kernel for that transform; the CPU has one",
                    layout->matrix.rows, layout->matrix.columns, properties(layout->dtype).name));
  }
  const Result<std::vector<PatchRun>> patches =
      read_patches(layout->patches, layout->dtype, layout->elements);
  if (!patches) return patches.error();
  TransformGpu gpu(pool);
  gpu.layout_ = *layout;
  const DType kind = layout->dtype;
  const PowerOfTwo<float> power(-layout->scale);
  gpu.scale_ = {power.first, power.second, largest_of(kind), kind};
  for (const PatchRun& run : *patches) gpu.runs_.push_back({run.first, run.length, run.bits});
  if (layout->encoding == HolographicEncoding::spectral) {
    // Takes longer than the GPU takes for the tensor.
    const EssentialRegion region(layout->matrix, layout->common);
    for (uint64_t row = 0; row <= region.rows(); ++row) gpu.before_.push_back(region.before(row));
  }
  return gpu;
}

Status TransformGpu::check(std::span<const std::byte* const> fragments, uint32_t* status,
                           device::Stream& stream) {
  std::vector<FragmentCheck> checks;
  for (uint32_t number = 0; number < fragments.size(); ++number) {
    if (fragments[number] == nullptr) continue;
    FragmentCheck& check = checks.emplace_back();
    check.fragment = reinterpret_cast<const uint8_t*>(fragments[number]);
    const FragmentHeader header = fragment_header(layout_, number);
    static_assert(sizeof header == sizeof check.header);
    std::memcpy(check.header, &header, sizeof header);
    const std::array<uint64_t, 3> ends = section_ends(layout_, number);
    std::copy(ends.begin(), ends.end(), check.ends);
  }
  if (checks.empty()) return {};
  const Result<device::Buffer> sent = send(*pool_, stream, std::as_bytes(std::span(checks)));
  if (!sent) return sent.error();
  return check_all_fragments.launch(stream, static_cast<const FragmentCheck*>(sent->data()),
                                    static_cast<uint32_t>(checks.size()), status);
}

Status TransformGpu::reconstruct(std::span<const std::byte* const> fragments, void* out,
                                 device::Stream& stream) {
  const auto present = std::find_if(fragments.begin(), fragments.end(),
                                    [](const std::byte* fragment) { return fragment != nullptr; });
  if (fragments.size() != layout_.fragments || present == fragments.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("reconstruction on the GPU from {} places for fragments, of {}: one at "
                            "least must be there",
                            fragments.size(), layout_.fragments));
  }
  Status status;
  if (layout_.encoding == HolographicEncoding::low_rank_distributed) {
    status = multiply(fragments, out, stream);
  } else {
    const Result<device::Buffer> pointers = send(*pool_, stream, std::as_bytes(fragments));
    if (!pointers) return pointers.error();
    const Result<device::Buffer> shifts = scratch(stream, layout_.groups);
    if (!shifts) return shifts.error();
    status =
        fill_shifts.launch(stream, layout_.seed, layout_.fragments, layout_.groups, shifts->data());
    if (!status) return status;
    const DealtValues dealt = {static_cast<const uint8_t* const*>(pointers->data()),
                               reinterpret_cast<const uint8_t*>(*present),
                               static_cast<const uint8_t*>(shifts->data()),
                               layout_.groups,
                               layout_.common_offset(),
                               layout_.dealt_offset(),
                               layout_.fragments,
                               layout_.precision};
    status = layout_.encoding == HolographicEncoding::spectral ? invert_cosine(dealt, out, stream)
                                                               : unproject(dealt, out, stream);
  }
  return status ? apply_runs(out, stream) : status;
}

Status TransformGpu::unproject(const DealtValues& dealt, void* out, device::Stream& stream) {
  const Result<device::Buffer> signs = scratch(stream, (layout_.elements + 31) / 32 * 4);
  if (!signs) return signs.error();
  return invert_projection.launch(stream, &dealt, layout_.elements, layout_.seed, signs->data(),
                                  &scale_, out);
}

Status TransformGpu::invert_cosine(const DealtValues& dealt, void* out, device::Stream& stream) {
  const MatrixShape matrix = layout_.matrix;
  const CosinePlan of_rows = *cosine_plan(matrix.columns);
  const CosinePlan of_columns = *cosine_plan(matrix.rows);
  const Result<device::Buffer> before = send(*pool_, stream, std::as_bytes(std::span(before_)));
  if (!before) return before.error();
  const Result<device::Buffer> tables =
      scratch(stream, CosineTables::bytes(of_rows.length) + CosineTables::bytes(of_columns.length));
  if (!tables) return tables.error();
  const Result<device::Buffer> panels =
      scratch(stream, sizeof(float) * panel_values(matrix.rows, matrix.columns));
  if (!panels) return panels.error();
  return inverse_cosine.launch(stream, &dealt, static_cast<const uint64_t*>(before->data()),
                               &of_rows, &of_columns, tables->data(), panels->data(), &scale_, out);
}

Status TransformGpu::multiply(std::span<const std::byte* const> fragments, void* out,
                              device::Stream& stream) {
  const MatrixShape matrix = layout_.matrix;
  const uint64_t precision_bytes = layout_.precision_bytes;
  std::vector<const std::byte*> lefts;
  std::vector<const std::byte*> rights;
  std::vector<const std::byte*> sigmas;
  for (uint32_t number = 0; number < layout_.fragments; ++number) {
    const std::byte* const fragment = fragments[number];
    for (uint64_t i = 0; fragment != nullptr && i < layout_.components(number); ++i) {
      sigmas.push_back(fragment + layout_.sigma_offset() + i * sizeof(float));
      lefts.push_back(fragment + layout_.u_offset(number) + i * matrix.rows * precision_bytes);
      rights.push_back(fragment + layout_.v_offset(number) + i * matrix.columns * precision_bytes);
    }
  }
  const auto count = static_cast<uint32_t>(sigmas.size());
  const Result<device::Buffer> product = scratch(stream, sizeof(float) * layout_.elements);
  if (!product) return product.error();
  if (count == 0) {
    Status cleared = stream.fill(product->data(), std::byte{0}, sizeof(float) * layout_.elements);
    if (!cleared) return cleared;
  } else {
    const Result<device::Buffer> left = scratch(stream, sizeof(float) * count * matrix.rows);
    if (!left) return left.error();
    const Result<device::Buffer> right = scratch(stream, sizeof(float) * count * matrix.columns);
    if (!right) return right.error();
    const DType precision = layout_.precision;
    const float factor = std::ldexp(1.0F, -2 * vector_scale(layout_.precision));
    const auto load = [&](std::span<const std::byte* const> vectors,
                          std::span<const std::byte* const> scales, uint64_t length,
                          const device::Buffer& to) -> Status {
      const Result<device::Buffer> from = send(*pool_, stream, std::as_bytes(vectors));
      if (!from) return from.error();
      Result<device::Buffer> with;
      if (!scales.empty()) with = send(*pool_, stream, std::as_bytes(scales));
      if (!with) return with.error();
      return load_vectors.launch(stream, from->data(), with->data(), factor, length, count,
                                 precision, to.data());
    };
    Status status = load(lefts, sigmas, matrix.rows, *left);
    if (status) status = load(rights, {}, matrix.columns, *right);
    if (!status) return status;
    // Column-major: the product's transpose is v^T times (sigma u).
    hoist_blas_call call{};
    call.routine = HOIST_BLAS_GEMM;
    call.type = 's';
    call.trans_a = 'N';
    call.trans_b = 'T';
    call.m = static_cast<int64_t>(matrix.columns);
    call.n = static_cast<int64_t>(matrix.rows);
    call.k = count;
    call.alpha[0] = 1;
    call.a = right->data();
    call.lda = call.m;
    call.b = left->data();
    call.ldb = call.n;
    call.c = product->data();
    call.ldc = call.m;
    if (status = gemm::enqueue(stream, call); !status) return status;
  }
  return convert_elements.launch(stream, product->data(), layout_.elements, &scale_, out);
}

Status TransformGpu::apply_runs(void* out, device::Stream& stream) {
  if (runs_.empty()) return {};
  const Result<device::Buffer> sent = send(*pool_, stream, std::as_bytes(std::span(runs_)));
  if (!sent) return sent.error();
  return fill_runs.launch(stream, sent->data(), static_cast<uint32_t>(runs_.size()),
                          static_cast<uint32_t>(properties(layout_.dtype).bytes), out);
}

}  // namespace hoist::tensors
