#include "tensors/gpu/embedded_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "device/kernel.h"
#include "tensors/gpu/kernel_arguments.h"

namespace hoist::tensors {
namespace {

using codec::RansDecodeTable;

constinit const device::Kernel<EmbeddedKernel, const EmbeddedJob*, uint32_t, uint32_t>
    decode_embedded("hoist_cuda_tensors_decode_embedded", "decoder of embedded tensors");

constexpr size_t kSymbols = 256;
constexpr uint64_t kMaxSectionBytes = (uint64_t{1} << 32) * codec::kEntropyTileAlignment;

EmbeddedKernel kernel_for(const EmbeddedLayout& layout) {
  const auto width = static_cast<uint8_t>(layout.format.bits / 8);
  const uint8_t plane_bytes = width == 8                        ? 7
                              : width == 4                      ? 3
                              : width == 2 && layout.planes > 7 ? 2
                                                                : 1;
  return {width, plane_bytes, static_cast<uint8_t>(layout.table.symbols_per_code())};
}

// 256 elements of `width` bytes.
void append_bases(const std::array<uint64_t, kSymbols>& bases, size_t width,
                  std::vector<std::byte>& out) {
  for (const uint64_t base : bases) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&base);
    out.insert(out.end(), bytes, bytes + width);
  }
}

bool precedes(const EmbeddedKernel& a, const EmbeddedKernel& b) {
  const auto key = [](const EmbeddedKernel& k) {
    return k.width << 16 | k.plane_bytes << 8 | k.symbols_per_code;
  };
  return key(a) < key(b);
}

}  // namespace

Result<EmbeddedGpu> EmbeddedGpu::create(device::PinnedPool& pool,
                                        std::vector<const EmbeddedLayout*> layouts) {
  if (Status available = device::cuda_available(); !available) {
    return available.error();
  }
  EmbeddedGpu gpu(pool);
  std::vector<std::byte> tables;
  tables.reserve(layouts.size() * sizeof(RansDecodeTable));
  size_t tiles_in_all = 0;
  for (const EmbeddedLayout* layout : layouts) {
    const uint64_t tiles = (layout->elements - 1) / layout->tile_elements + 1;
    // The sizes of the tiles are at the section's beginning.
    if (layout->section_bytes > kMaxSectionBytes || layout->section_bytes / 4 < tiles + 4) {
      return fail(ErrorCode::corrupt,
                  fmt::format("embedded tensor of {} elements: {} bytes of layer 0 cannot be that",
                              layout->elements, layout->section_bytes));
    }
    gpu.tensors_.push_back(
        {layout, kernel_for(*layout), static_cast<uint32_t>(tiles), tiles_in_all});
    tiles_in_all += tiles;
    const auto table = std::as_bytes(std::span(&layout->table.decode_table(), 1));
    tables.insert(tables.end(), table.begin(), table.end());
  }
  const std::pair<device::Buffer*, size_t> buffers[] = {
      {&gpu.tables_, whole_sent_units(tables.size())},
      {&gpu.tile_at_, tiles_in_all * sizeof(uint32_t)},
      {&gpu.status_, std::max<size_t>(layouts.size(), 1) * sizeof(uint32_t)}};
  for (const auto& [buffer, size] : buffers) {
    Result<device::Buffer> allocated = device::Buffer::allocate(pool.device(), size);
    if (!allocated) return allocated.error();
    *buffer = std::move(*allocated);
  }
  // A model may be on its way already, and a plain copy would wait for its chunks.
  Result<device::Stream> stream = device::Stream::create(pool.device());
  if (!stream) return stream.error();
  Status sent = send_to(gpu.tables_.view(), pool, *stream, tables);
  if (sent) sent = stream->synchronize();
  if (sent) sent = gpu.status_.fill(std::byte{0xff});  // kTilesGood
  if (!sent) return sent.error();
  Result<device::PinnedBlock> report = new_report(pool, layouts.size(), kTilesGood);
  if (!report) return report.error();
  gpu.report_ = std::move(*report);
  return gpu;
}

Result<EmbeddedJob> EmbeddedGpu::job(const EmbeddedTask& task) const {
  const Tensor& tensor = tensors_.at(task.tensor);
  const EmbeddedLayout& layout = *tensor.layout;
  const size_t known = task.layers.size() - 1;
  const bool aligned = std::all_of(task.layers.begin(), task.layers.end(), [](const std::byte* at) {
    return reinterpret_cast<uintptr_t>(at) % codec::kEntropyTileAlignment == 0;
  });
  if (task.layers.empty() || known > layout.planes || !aligned ||
      reinterpret_cast<uintptr_t>(task.out) % 16 != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("embedded tensor on the GPU ({} of {} layers): 1 to all layers, "
                            "aligned to 16 bytes",
                            task.layers.size(), layout.planes + 1));
  }
  const auto bytes = [](const std::byte* at) { return reinterpret_cast<const uint8_t*>(at); };
  EmbeddedJob job{};
  job.section = bytes(task.layers[0]);
  job.section_bytes = layout.section_bytes;
  job.elements = layout.elements;
  job.tile_elements = layout.tile_elements;
  job.tiles = tensor.tiles;
  job.table = static_cast<const RansDecodeTable*>(tables_.data()) + task.tensor;
  for (size_t plane = 0; plane < known; ++plane) {
    job.planes[layout.top_bit - plane] = bytes(task.layers[1 + plane]);
  }
  if (layout.has_signs)
    job.planes[8 * tensor.kernel.plane_bytes - 1] = job.section + job.section_bytes;
  job.tile_at = static_cast<uint32_t*>(tile_at_.data()) + tensor.first_tile;
  job.status = static_cast<uint32_t*>(status_.data()) + task.tensor;
  job.out = task.out;
  return job;
}

Status EmbeddedGpu::decode(std::span<const EmbeddedTask> tasks, device::Stream& stream) {
  std::vector<const EmbeddedTask*> order;
  for (const EmbeddedTask& task : tasks) order.push_back(&task);
  const auto kernel = [&](const EmbeddedTask* task) { return tensors_.at(task->tensor).kernel; };
  std::stable_sort(order.begin(), order.end(), [&](const EmbeddedTask* a, const EmbeddedTask* b) {
    return precedes(kernel(a), kernel(b));
  });
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(), [&](const EmbeddedTask* task) {
      return !(kernel(task) == kernel(*first));
    });
    std::vector<EmbeddedJob> jobs;
    std::vector<std::byte> bases;
    uint32_t blocks = 0;
    for (auto at = first; at != last; ++at) {
      Result<EmbeddedJob> job = this->job(**at);
      if (!job) return job.error();
      job->first_block = blocks;
      blocks += embedded_blocks(job->tiles);
      jobs.push_back(*job);
      append_bases(
          tensors_[(*at)->tensor].layout->bases(static_cast<uint32_t>((*at)->layers.size() - 1)),
          kernel(*first).width, bases);
    }
    Result<device::Buffer> sent_bases = send(*pool_, stream, bases);
    if (!sent_bases) return sent_bases.error();
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].bases = sent_bases->view().data + i * kSymbols * kernel(*first).width;
    }
    Result<device::Buffer> sent_jobs = send(*pool_, stream, std::as_bytes(std::span(jobs)));
    if (!sent_jobs) return sent_jobs.error();
    Status launched = decode_embedded.launch(stream, kernel(*first),
                                             static_cast<const EmbeddedJob*>(sent_jobs->data()),
                                             static_cast<uint32_t>(jobs.size()), blocks);
    if (!launched) return launched;
    first = last;
  }
  return {};
}

Status EmbeddedGpu::collect(device::Stream& stream) {
  return stream.copy(report_.data(), status_.data(), status_.size());
}

bool EmbeddedGpu::is_corrupt(size_t tensor) const {
  return report_word(report_, tensor) != kTilesGood;
}

}  // namespace hoist::tensors
