#include "tensors/gpu/holo_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tensors/gpu/parts_decoder.h"

namespace hoist::tensors {

Result<HoloStreamPool> HoloStreamPool::create(device::Device& device, size_t streams) {
  if (streams == 0) return fail(ErrorCode::invalid_argument, "0 streams: at least 1");
  HoloStreamPool pool;
  for (size_t i = 0; i < streams; ++i) {
    Result<device::Stream> stream = device::Stream::create(device);
    if (!stream) return stream.error();
    pool.streams_.push_back(std::move(*stream));
  }
  return pool;
}

Status HoloStreamPool::synchronize() {
  Status status;
  for (device::Stream& stream : streams_) {
    if (Status done = stream.synchronize(); !done && status) status = std::move(done);
  }
  return status;
}

GpuAccumulator::GpuAccumulator(std::unique_ptr<const TensorDescription> description,
                               std::unique_ptr<PartsDecoder> decoder, device::Stream& stream,
                               const GpuHoloContext& maker)
    : description_(std::move(description)),
      decoder_(std::move(decoder)),
      stream_(&stream),
      maker_(&maker) {}
GpuAccumulator::GpuAccumulator(GpuAccumulator&&) noexcept = default;
GpuAccumulator& GpuAccumulator::operator=(GpuAccumulator&&) noexcept = default;
GpuAccumulator::~GpuAccumulator() = default;

uint64_t GpuAccumulator::bytes() const {
  return byte_count(description_->dtype, description_->shape).value_or(0);
}

bool GpuAccumulator::can_reconstruct() const { return decoder_->can_reconstruct(); }

double GpuAccumulator::quality() const {
  if (!can_reconstruct()) return 0;
  if (description_->encoding == HolographicEncoding::lossless) return 1;
  if (description_->curve.any_subset()) return description_->curve.quality(parts_);
  std::vector<size_t> prefix;
  while (std::find(parts_.begin(), parts_.end(), prefix.size()) != parts_.end()) {
    prefix.push_back(prefix.size());
  }
  return description_->curve.quality(prefix);
}

Result<std::unique_ptr<GpuHoloContext>> GpuHoloContext::create(device::Device& device,
                                                               size_t streams) {
  Result<HoloStreamPool> pool = HoloStreamPool::create(device, streams);
  if (!pool) return pool.error();
  return std::unique_ptr<GpuHoloContext>(new GpuHoloContext(device, std::move(*pool)));
}

Result<GpuAccumulator> GpuHoloContext::create_accumulator(const TensorDescription& description) {
  auto kept = std::make_unique<const TensorDescription>(description);
  Result<std::unique_ptr<PartsDecoder>> decoder = make_parts_decoder(pool_, transfer_, *kept);
  if (!decoder) return decoder.error();
  return GpuAccumulator(std::move(kept), std::move(*decoder), streams_.next(), *this);
}

namespace {

Status check_number(const GpuAccumulator& tensor, size_t part) {
  const size_t parts = tensor.description().part_bytes.size();
  if (part < parts) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("fragment {} of a tensor that has {}", part, parts));
}

}  // namespace

Status GpuHoloContext::check_maker(const GpuAccumulator& tensor) const {
  if (tensor.maker_ == this) return {};
  return fail(ErrorCode::invalid_argument,
              "an accumulator of another context: use the one that made it");
}

Status GpuHoloContext::accumulate_fragment(GpuAccumulator& tensor, size_t part,
                                           std::span<const std::byte> bytes) {
  if (Status own = check_maker(tensor); !own) return own;
  if (Status known = check_number(tensor, part); !known) return known;
  if (std::find(tensor.parts_.begin(), tensor.parts_.end(), part) != tensor.parts_.end()) return {};
  if (Status added = tensor.decoder_->add(part, bytes); !added) return added;
  tensor.parts_.push_back(part);
  return {};
}

Status GpuHoloContext::accumulate_fragment(GpuAccumulator& tensor, size_t part,
                                           device::Span<const std::byte> bytes) {
  if (Status own = check_maker(tensor); !own) return own;
  if (Status known = check_number(tensor, part); !known) return known;
  if (std::find(tensor.parts_.begin(), tensor.parts_.end(), part) != tensor.parts_.end()) return {};
  if (Status added = tensor.decoder_->add(part, bytes); !added) return added;
  tensor.parts_.push_back(part);
  return {};
}

Status GpuHoloContext::finalize_reconstruction(GpuAccumulator& tensor,
                                               device::Span<std::byte> out) {
  if (Status own = check_maker(tensor); !own) return own;
  if (out.size != tensor.bytes() || out.device != &device()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("reconstruction into {} bytes: the tensor has {}, on {}", out.size,
                            tensor.bytes(), device().properties().id()));
  }
  if (!tensor.can_reconstruct()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("reconstruction from {} fragments: not enough to begin with",
                            tensor.fragments()));
  }
  return tensor.decoder_->reconstruct(out, *tensor.stream_);
}

Result<device::Buffer> GpuHoloContext::reconstruct(const TensorDescription& description,
                                                   std::span<const std::vector<std::byte>> parts) {
  Result<GpuAccumulator> tensor = create_accumulator(description);
  if (!tensor) return tensor.error();
  for (size_t part = 0; part < parts.size(); ++part) {
    Status added = accumulate_fragment(*tensor, part, std::span<const std::byte>(parts[part]));
    if (!added) return added.error();
  }
  return reconstruct_as(*tensor, description.dtype);
}

Result<device::Buffer> GpuHoloContext::reconstruct_as(GpuAccumulator& tensor, DType dtype,
                                                      const Quantisation& quantisation) {
  const DType own = tensor.description().dtype;
  Result<device::Buffer> elements =
      device::Buffer::allocate(device(), std::max<uint64_t>(tensor.bytes(), 1));
  if (!elements) return elements;
  Status done = finalize_reconstruction(tensor, elements->view().subspan(0, tensor.bytes()));
  if (!done) return done.error();
  if (dtype == own && quantisation.block == 0) return elements;
  const uint64_t bytes = tensor.bytes() / properties(own).bytes * properties(dtype).bytes;
  Result<device::Buffer> converted =
      device::Buffer::allocate(device(), std::max<uint64_t>(bytes, 1));
  if (!converted) return converted;
  done = convert(elements->view<const std::byte>().subspan(0, tensor.bytes()), own,
                 converted->view().subspan(0, bytes), dtype, quantisation);
  if (!done) return done.error();
  return converted;
}

Status GpuHoloContext::convert(device::Span<const std::byte> in, DType from,
                               device::Span<std::byte> out, DType to,
                               const Quantisation& quantisation) {
  device::Stream& stream = streams_.next();
  Status done = convert_on_device(in, from, out, to, quantisation, stream);
  return done ? stream.synchronize() : done;
}

}  // namespace hoist::tensors
