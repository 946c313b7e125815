#include "tensors/file/header.h"

#include <algorithm>
#include <iterator>

#include "container/cbor.h"

namespace hoist::tensors {
namespace {

using container::CborWriter;

constexpr std::string_view kEncodingNames[] = {"lossless", "embedded", "spectral", "rph", "lrdf"};

void encode_curve(const QualityCurve& curve, CborWriter& out) {
  out.array(3);
  out.array(2 * curve.prefixes.size());
  for (const QualityPoint& point : curve.prefixes) {
    out.number(point.quality);
    out.number(point.cosine);
  }
  out.number(curve.common);
  out.array(curve.energies.size());
  for (const double energy : curve.energies) out.number(energy);
}

void encode_stream(const StoredStream& stream, CborWriter& out) {
  out.number(stream.bytes);
  out.number(uint64_t{static_cast<uint8_t>(stream.packing)});
}

void encode_tensor(const HoloTensor& tensor, CborWriter& out) {
  const TensorDescription& description = tensor.description;
  const bool from_file = tensor.file != kNoFile;
  const bool turned = !tensor.order.is_standard();
  out.map(7 + (from_file ? 2 : 0) + (tensor.stored_as.empty() ? 0 : 1) + (turned ? 1 : 0));
  out.text("name");
  out.text(tensor.name);
  out.text("dtype");
  out.text(properties(description.dtype).name);
  out.text("shape");
  out.array(description.shape.size());
  for (const uint64_t dimension : description.shape) out.number(dimension);
  out.text("encoding");
  out.number(uint64_t{static_cast<uint8_t>(description.encoding)});
  out.text("parameters");
  out.bytes(description.parameters);
  out.text("parts");
  out.array(3 * tensor.parts.size());
  for (size_t i = 0; i < tensor.parts.size(); ++i) {
    out.number(description.part_bytes[i]);
    encode_stream(tensor.parts[i], out);
  }
  out.text("curve");
  encode_curve(description.curve, out);
  if (from_file) {
    out.text("file");
    out.number(uint64_t{tensor.file});
    out.text("offset");
    out.number(tensor.offset);
  }
  if (!tensor.stored_as.empty()) {
    out.text("stored_as");
    out.text(tensor.stored_as);
  }
  if (turned) {
    out.text("order");
    out.number((tensor.order.big_endian ? kBigEndian : 0) |
               (tensor.order.column_major ? kColumnMajor : 0));
  }
}

void encode_file(const HoloFile& file, CborWriter& out) {
  out.map(4);
  out.text("name");
  out.text(file.name);
  out.text("format");
  out.number(uint64_t{static_cast<uint8_t>(file.format)});
  out.text("size");
  out.number(file.size);
  out.text("skeleton");
  out.array(3);
  out.number(file.skeleton_bytes);
  encode_stream(file.skeleton, out);
}

}  // namespace

uint64_t HoloTensor::bytes() const {
  return byte_count(description.dtype, description.shape).value_or(0);
}

bool HoloTensorHeader::add(HoloTensor tensor) {
  tensors.push_back(std::move(tensor));
  if (names.add(tensors, tensors.size() - 1)) return true;
  tensors.pop_back();
  return false;
}

std::optional<size_t> HoloTensorHeader::find(std::string_view name) const {
  return names.find(tensors, name);
}

uint64_t HoloTensorHeader::tensor_bytes() const {
  uint64_t total = 0;
  for (const HoloTensor& tensor : tensors) total += tensor.bytes();
  return total;
}

bool is_any_subset(HolographicEncoding encoding) {
  return encoding == HolographicEncoding::spectral ||
         encoding == HolographicEncoding::random_projection ||
         encoding == HolographicEncoding::low_rank_distributed;
}

std::string_view name(HolographicEncoding encoding) {
  return kEncodingNames[static_cast<size_t>(encoding)];
}

std::optional<HolographicEncoding> find_encoding(std::string_view name) {
  const auto* const found = std::find(std::begin(kEncodingNames), std::end(kEncodingNames), name);
  if (found == std::end(kEncodingNames)) return std::nullopt;
  return static_cast<HolographicEncoding>(found - std::begin(kEncodingNames));
}

bool is_believable(uint64_t decoded, uint64_t stored) { return decoded / kMaxExpansion <= stored; }

std::string encode_header(const HoloTensorHeader& header) {
  CborWriter out;
  out.map(8);
  out.text("format");
  out.number(kHoloFormat);
  out.text("order");
  out.number(uint64_t{static_cast<uint8_t>(header.order)});
  out.text("fragments");
  out.number(uint64_t{header.fragments});
  out.text("parity");
  out.number(uint64_t{header.parity});
  out.text("layout");
  out.array(3);
  out.number(header.rules.min_shard);
  out.number(header.rules.max_shard);
  out.number(header.rules.bundle);
  out.text("files");
  out.array(header.files.size());
  for (const HoloFile& file : header.files) encode_file(file, out);
  out.text("tensors");
  out.array(header.tensors.size());
  for (const HoloTensor& tensor : header.tensors) encode_tensor(tensor, out);
  out.text("checksums");
  out.bytes(std::as_bytes(std::span(header.checksums)));
  return out.result();
}

}  // namespace hoist::tensors
