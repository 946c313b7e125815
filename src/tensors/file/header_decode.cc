#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codec/parity.h"
#include "container/cbor.h"
#include "tensors/file/header.h"

namespace hoist::tensors {
namespace {

using container::CborReader;

constexpr size_t kMaxName = size_t{64} << 10;

// Reads the fields; the first rule that is broken is remembered and ends everything.
class HeaderDecoder {
 public:
  HeaderDecoder(std::span<const std::byte> bytes, const std::string& name)
      : in_(bytes), name_(name) {}

  Result<HoloTensorHeader> decode();

 private:
  void refuse(std::string_view what, ErrorCode code = ErrorCode::corrupt) {
    if (!status_) return;
    const char* const mend = code == ErrorCode::unsupported ? "use a newer version of Hoist"
                                                            : "try `hoist tensors repair`";
    status_ = fail(
        code, fmt::format("the metadata of the tensor file holds {} ({}): {}", what, name_, mend));
  }
  bool ok() {
    if (status_ && !in_.ok()) refuse("what is no valid CBOR");
    return status_.has_value();
  }
  // Calls `field` with each key of a map.
  template <typename Field>
  void each_field(Field&& field) {
    for (uint64_t pairs = in_.map(); pairs > 0 && ok(); --pairs) field(in_.text());
  }
  uint64_t size() {
    const uint64_t value = in_.number();
    if (value > container::kMaxSize) refuse("a size beyond 2^60");
    return value;
  }
  uint64_t bounded(uint64_t limit, std::string_view what) {
    const uint64_t value = in_.number();
    if (in_.ok() && value > limit) refuse(what);
    return value;
  }
  std::string text(std::string_view what) {
    const std::string_view value = in_.text();
    if (value.size() > kMaxName) refuse(what);
    return std::string(value);
  }

  void top_field(std::string_view key);
  void rules();
  StoredStream stream(uint64_t raw);
  void file();
  void tensor();
  void tensor_field(std::string_view key, HoloTensor& tensor);
  void dtype(TensorDescription& description);
  void shape(Shape& shape);
  void encoding(TensorDescription& description);
  void parameters(TensorDescription& description);
  void parts(HoloTensor& tensor);
  void curve(QualityCurve& curve);
  void order(ElementOrder& order);
  void checksums();
  double share();

  void check_tensor(const HoloTensor& tensor);
  void check_files();
  void check_all();

  CborReader in_;
  const std::string& name_;
  Status status_;
  HoloTensorHeader header_;
};

void HeaderDecoder::top_field(std::string_view key) {
  if (key == "format") {
    if (in_.number() != kHoloFormat && in_.ok()) {
      refuse("another version than 0", ErrorCode::unsupported);
    }
  } else if (key == "order") {
    header_.order = static_cast<FileOrder>(bounded(1, "an unknown order"));
  } else if (key == "fragments") {
    header_.fragments =
        static_cast<uint32_t>(bounded(codec::Parity::kMaxShards, "too many shards"));
  } else if (key == "parity") {
    header_.parity = static_cast<uint32_t>(bounded(codec::Parity::kMaxShards, "too many shards"));
  } else if (key == "layout") {
    rules();
  } else if (key == "files") {
    for (uint64_t left = in_.array(); left > 0 && ok(); --left) file();
  } else if (key == "tensors") {
    for (uint64_t left = in_.array(); left > 0 && ok(); --left) tensor();
  } else if (key == "checksums") {
    checksums();
  } else {
    in_.skip();
  }
}

void HeaderDecoder::rules() {
  if (in_.array() != 3) return refuse("a layout of other than three numbers");
  LayoutRules& rules = header_.rules;
  rules.min_shard = size();
  rules.max_shard = size();
  rules.bundle = size();
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const bool fits = rules.min_shard >= 64 && rules.min_shard % 64 == 0 && rules.min_shard <= kMiB &&
                    rules.max_shard % 4096 == 4032 && rules.max_shard >= kMiB &&
                    rules.max_shard <= 256 * kMiB && rules.bundle >= rules.min_shard &&
                    rules.bundle <= rules.max_shard;
  if (!fits) refuse("an impossible layout");
}

StoredStream HeaderDecoder::stream(uint64_t raw) {
  StoredStream stream;
  stream.bytes = size();
  const uint64_t packing = in_.number();
  if (packing > static_cast<uint8_t>(Packing::zstd)) {
    refuse("an unknown packing", ErrorCode::unsupported);
  }
  stream.packing = static_cast<Packing>(packing);
  const bool fits = stream.packing == Packing::plain ? stream.bytes == raw : stream.bytes < raw;
  if (in_.ok() && !fits) refuse("a stream with two sizes");
  return stream;
}

void HeaderDecoder::file() {
  HoloFile file;
  each_field([&](std::string_view key) {
    if (key == "name") {
      file.name = text("a name of more than 64 KiB");
    } else if (key == "format") {
      const uint64_t format = in_.number();
      if (format > static_cast<uint8_t>(ModelFormat::json_index)) {
        refuse("an unknown file format", ErrorCode::unsupported);
      }
      file.format = static_cast<ModelFormat>(format);
    } else if (key == "size") {
      file.size = size();
    } else if (key == "skeleton") {
      if (in_.array() != 3) refuse("a skeleton of other than three numbers");
      file.skeleton_bytes = size();
      file.skeleton = stream(file.skeleton_bytes);
    } else {
      in_.skip();
    }
  });
  const bool is_plain = !file.name.empty() && file.name != "." && file.name != ".." &&
                        file.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (ok() && !is_plain) refuse("the name of a file that is no plain name");
  if (file.skeleton_bytes > kMaxHeaderBytes) refuse("a skeleton of more than 256 MiB");
  header_.files.push_back(std::move(file));
}

void HeaderDecoder::dtype(TensorDescription& description) {
  const std::string_view name = in_.text();
  const DTypeProperties* const type = find_dtype(name);
  if (!ok()) return;
  if (type == nullptr) return refuse("an unknown element type", ErrorCode::unsupported);
  description.dtype = type->dtype;
}

void HeaderDecoder::shape(Shape& shape) {
  const uint64_t rank = in_.array();
  if (rank > kMaxRank) return refuse("a shape of more than 64 dimensions");
  for (uint64_t i = 0; i < rank && in_.ok(); ++i) shape.push_back(in_.number());
}

void HeaderDecoder::encoding(TensorDescription& description) {
  const uint64_t number = in_.number();
  if (number > static_cast<uint8_t>(HolographicEncoding::low_rank_distributed)) {
    return refuse("an unknown encoding", ErrorCode::unsupported);
  }
  description.encoding = static_cast<HolographicEncoding>(number);
}

void HeaderDecoder::parameters(TensorDescription& description) {
  const std::span<const std::byte> bytes = in_.bytes();
  if (bytes.size() > kMaxParameterBytes) return refuse("parameters of more than 64 KiB");
  description.parameters.assign(bytes.begin(), bytes.end());
}

void HeaderDecoder::parts(HoloTensor& tensor) {
  const uint64_t numbers = in_.array();
  if (numbers % 3 != 0 || numbers > 3 * kMaxParts) return refuse("parts that are no list of parts");
  for (uint64_t i = 0; i < numbers / 3 && ok(); ++i) {
    tensor.description.part_bytes.push_back(size());
    tensor.parts.push_back(stream(tensor.description.part_bytes.back()));
  }
}

double HeaderDecoder::share() {
  const double value = in_.real();
  if (!std::isfinite(value)) refuse("a quality that is no number");
  return value;
}

void HeaderDecoder::curve(QualityCurve& curve) {
  if (in_.array() != 3) return refuse("a curve of other than three fields");
  const uint64_t numbers = in_.array();
  if (numbers % 2 != 0 || numbers > 2 * kMaxParts) return refuse("an invalid quality curve");
  for (uint64_t i = 0; i < numbers / 2 && ok(); ++i) {
    const double quality = share();
    curve.prefixes.push_back({quality, share()});
  }
  curve.common = share();
  const uint64_t energies = in_.array();
  if (energies > kMaxParts) return refuse("an invalid quality curve");
  for (uint64_t i = 0; i < energies && ok(); ++i) curve.energies.push_back(share());
}

void HeaderDecoder::tensor_field(std::string_view key, HoloTensor& tensor) {
  TensorDescription& description = tensor.description;
  if (key == "name") {
    tensor.name = text("a name of more than 64 KiB");
  } else if (key == "dtype") {
    dtype(description);
  } else if (key == "shape") {
    shape(description.shape);
  } else if (key == "encoding") {
    encoding(description);
  } else if (key == "parameters") {
    parameters(description);
  } else if (key == "parts") {
    parts(tensor);
  } else if (key == "curve") {
    curve(description.curve);
  } else if (key == "file") {
    tensor.file = static_cast<uint32_t>(bounded(kNoFile - 1, "a file that is not there"));
  } else if (key == "offset") {
    tensor.offset = size();
  } else if (key == "stored_as") {
    tensor.stored_as = text("a name of more than 64 KiB");
  } else if (key == "order") {
    order(tensor.order);
  } else {
    in_.skip();
  }
}

void HeaderDecoder::order(ElementOrder& order) {
  const uint64_t bits = in_.number();
  if (bits > (kBigEndian | kColumnMajor)) {
    return refuse("an unknown order of elements", ErrorCode::unsupported);
  }
  order.big_endian = (bits & kBigEndian) != 0;
  order.column_major = (bits & kColumnMajor) != 0;
}

void HeaderDecoder::tensor() {
  HoloTensor tensor;
  each_field([&](std::string_view key) { tensor_field(key, tensor); });
  if (ok()) check_tensor(tensor);
  if (ok() && !header_.add(std::move(tensor))) refuse("two tensors of one name");
}

void HeaderDecoder::check_tensor(const HoloTensor& tensor) {
  const TensorDescription& description = tensor.description;
  if (!element_count(description.shape)) return refuse("a shape larger than any file");
  const Result<uint64_t> bytes = byte_count(description.dtype, description.shape);
  if (!bytes) return refuse("a shape whose elements do not fill their last byte");
  if (*bytes > container::kMaxSize) return refuse("a shape larger than any file");
  if (!tensor.order.is_standard() && properties(description.dtype).packed > 1) {
    return refuse("an order of elements that share bytes");
  }
  const size_t parts = tensor.parts.size();
  const QualityCurve& curve = description.curve;
  const bool any_subset = is_any_subset(description.encoding);
  if (curve.prefixes.size() != parts || curve.energies.size() != (any_subset ? parts : 0)) {
    return refuse("a curve for other parts than there are");
  }
  const bool lossless = description.encoding == HolographicEncoding::lossless;
  if (lossless && (parts != 1 || description.part_bytes[0] != tensor.bytes())) {
    return refuse("a lossless tensor of another size");
  }
  uint64_t stored = 0;
  for (size_t i = 0; i < parts; ++i) {
    const bool plain = tensor.parts[i].packing == Packing::plain;
    if (!plain && !lossless) return refuse("a packed part of an encoding");
    stored = std::min(stored + tensor.parts[i].bytes, container::kMaxSize);
  }
  if (!is_believable(tensor.bytes(), stored)) refuse("a tensor far larger than what is stored");
}

void HeaderDecoder::checksums() {
  const std::span<const std::byte> bytes = in_.bytes();
  if (bytes.size() % sizeof(uint64_t) != 0) return refuse("half a checksum");
  header_.checksums.resize(bytes.size() / sizeof(uint64_t));
  if (!bytes.empty()) std::memcpy(header_.checksums.data(), bytes.data(), bytes.size());
}

// Tensors lie in their file one behind the other, and with the skeleton they fill it.
void HeaderDecoder::check_files() {
  std::vector<uint64_t> end(header_.files.size());
  std::vector<uint64_t> held(header_.files.size());
  for (const HoloTensor& tensor : header_.tensors) {
    if (tensor.file == kNoFile) continue;
    if (tensor.file >= header_.files.size()) return refuse("a file that is not there");
    const HoloFile& file = header_.files[tensor.file];
    const uint64_t bytes = tensor.bytes();
    if (tensor.offset < end[tensor.file] || bytes > file.size ||
        tensor.offset > file.size - bytes) {
      return refuse("a tensor outside of its file");
    }
    end[tensor.file] = tensor.offset + bytes;
    held[tensor.file] += bytes;
  }
  for (size_t i = 0; i < header_.files.size(); ++i) {
    if (held[i] + header_.files[i].skeleton_bytes != header_.files[i].size) {
      return refuse("a file of which bytes are missing");
    }
  }
}

void HeaderDecoder::check_all() {
  if (header_.fragments == 0 || header_.fragments + header_.parity > codec::Parity::kMaxShards) {
    return refuse("an impossible number of shards");
  }
  uint64_t total = 0;
  for (const HoloTensor& tensor : header_.tensors) {
    if (is_any_subset(tensor.description.encoding) &&
        tensor.parts.size() + header_.parity > codec::Parity::kMaxShards) {
      return refuse("an impossible number of shards");
    }
    for (const StoredStream& part : tensor.parts) total += part.bytes;
    if (total > container::kMaxSize) return refuse("a size beyond 2^60");
  }
  check_files();
}

Result<HoloTensorHeader> HeaderDecoder::decode() {
  each_field([&](std::string_view key) { top_field(key); });
  if (ok() && !in_.at_end()) refuse("bytes behind its end");
  if (ok()) check_all();
  if (!ok()) return status_.error();
  return std::move(header_);
}

}  // namespace

Result<HoloTensorHeader> decode_header(std::span<const std::byte> bytes, const std::string& name) {
  return HeaderDecoder(bytes, name).decode();
}

}  // namespace hoist::tensors
