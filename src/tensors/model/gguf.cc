// GGUF, versions 1 to 3 of either byte order (ggml's docs/gguf.md): key-value pairs, tensor
// descriptions, then the tensors at aligned offsets. Everything but the tensors is skeleton.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tensors/model/gguf_cursor.h"
#include "tensors/model/gguf_extents.h"
#include "tensors/model/gguf_pairs.h"
#include "tensors/model/gguf_types.h"
#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

constexpr uint32_t kMaxRank = 8;

struct GgufTensor {
  ModelTensor tensor;
  uint32_t type = 0;
  bool has_size = true;  // that its type tells
  uint64_t extent = 0;   // up to the next tensor or the end of the file
};

std::string type_name(std::string_view name, bool big_endian) {
  return fmt::format("{}{}", name, big_endian ? ", big-endian" : "");
}

// A row of quantised elements as a row of bytes.
Status set_type(const GgufCursor& in, const GgmlType& type, ModelTensor& tensor) {
  tensor.dtype = type.dtype.value_or(DType::u8);
  tensor.order.big_endian = in.big_endian() && type.dtype && type.block_bytes > 1;
  if (!type.dtype) {
    tensor.stored_as = type_name(type.name, in.big_endian());
    if (tensor.shape.empty()) tensor.shape.push_back(1);
    uint64_t& row = tensor.shape.back();
    if (row % type.block_elements != 0 || row > container::kMaxSize / type.block_bytes) {
      return fail(ErrorCode::corrupt,
                  fmt::format("rows of tensor '{}' are no whole blocks of {} ({})", tensor.name,
                              type.name, in.source().name()));
    }
    row = row / type.block_elements * type.block_bytes;
  }
  Result<uint64_t> bytes = tensor_bytes(tensor.dtype, tensor.shape, tensor.name);
  if (!bytes) return bytes.error();
  tensor.bytes = *bytes;
  return {};
}

Status read_tensor(GgufCursor& in, uint64_t alignment, GgufTensor& described) {
  ModelTensor& tensor = described.tensor;
  tensor.name = in.text(kMaxGgufName, "a name of more than 64 KiB");
  const auto rank = in.read<uint32_t>();
  if (rank > kMaxRank) in.refuse("a tensor of more than 8 dimensions");
  for (uint32_t i = 0; i < rank && in.ok(); ++i) tensor.shape.push_back(in.size());
  // GGUF names the fastest dimension first.
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  described.type = in.read<uint32_t>();
  tensor.offset = in.read<uint64_t>();
  if (tensor.offset > container::kMaxSize || tensor.offset % alignment != 0) {
    in.refuse(fmt::format("tensor '{}' is not aligned to {} bytes", tensor.name, alignment));
  }
  if (!in.ok()) return in.status();
  const GgmlType* const type = find_ggml_type(described.type);
  if (type != nullptr && type->other_block_bytes == 0) return set_type(in, *type, tensor);
  described.has_size = false;
  const Result<uint64_t> elements = tensor_bytes(DType::u8, tensor.shape, tensor.name);
  return elements ? Status() : elements.error();
}

uint64_t elements_of(const ModelTensor& tensor) { return element_count(tensor.shape).value_or(0); }

// By offset, tensors without elements before those that begin at the same place.
void set_extents(std::vector<GgufTensor>& tensors, uint64_t file_size) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    if (a.tensor.offset != b.tensor.offset) return a.tensor.offset < b.tensor.offset;
    return elements_of(a.tensor) == 0 && elements_of(b.tensor) != 0;
  });
  uint64_t end = file_size;
  for (size_t i = tensors.size(); i-- > 0;) {
    const uint64_t begin = tensors[i].tensor.offset;
    tensors[i].extent = begin < end ? end - begin : 0;
    end = std::min(end, begin);
  }
}

BytesRatio ratio_of(uint64_t bytes, uint64_t elements) {
  const uint64_t divisor = std::gcd(bytes, elements);
  return {bytes / divisor, elements / divisor};
}

UnknownExtent unknown_extent(const GgufTensor& described) {
  const uint64_t row = described.tensor.shape.empty() ? 1 : described.tensor.shape.back();
  return {elements_of(described.tensor) / row, row, described.extent};
}

// Tensors of one type that does not tell its size: the sizes of their rows where the file tells
// them, else all bytes up to the next tensor.
class UnknownType {
 public:
  UnknownType(uint32_t number, const GgufCursor& in, uint64_t alignment)
      : number_(number), in_(in), alignment_(alignment) {}

  void add(GgufTensor& tensor) { tensors_.push_back(&tensor); }
  Status resolve();
  std::string note() const;

 private:
  std::optional<BytesRatio> ratio() const;
  Status set_size(const std::optional<BytesRatio>& ratio, GgufTensor& described) const;

  uint32_t number_;
  const GgufCursor& in_;
  uint64_t alignment_;
  std::vector<GgufTensor*> tensors_;
};

std::optional<BytesRatio> UnknownType::ratio() const {
  std::vector<UnknownExtent> before_the_end;
  std::vector<UnknownExtent> all;
  for (const GgufTensor* const described : tensors_) {
    if (elements_of(described->tensor) == 0) continue;
    all.push_back(unknown_extent(*described));
    const uint64_t end = described->tensor.offset + described->extent;
    if (end < in_.source().size()) before_the_end.push_back(all.back());
  }
  if (const GgmlType* const type = find_ggml_type(number_); type != nullptr) {
    const BytesRatio one = ratio_of(type->block_bytes, type->block_elements);
    const BytesRatio other = ratio_of(type->other_block_bytes, type->block_elements);
    const bool serves = serves_all(one, all, alignment_);
    if (serves != serves_all(other, all, alignment_)) return serves ? one : other;
  }
  // A file that is cut off has one extent less than it says.
  const std::optional<BytesRatio> whole = unambiguous_ratio(before_the_end, alignment_);
  return whole ? whole : unambiguous_ratio(all, alignment_);
}

Status UnknownType::set_size(const std::optional<BytesRatio>& ratio, GgufTensor& described) const {
  ModelTensor& tensor = described.tensor;
  tensor.dtype = DType::u8;
  const GgmlType* const type = find_ggml_type(number_);
  tensor.stored_as =
      type_name(type != nullptr ? std::string(type->name) : fmt::format("GGUF type {}", number_),
                in_.big_endian());
  if (elements_of(tensor) == 0) return {};
  if (described.extent == 0) {
    return fail(ErrorCode::corrupt, fmt::format("tensor '{}' overlaps another one ({})",
                                                tensor.name, in_.source().name()));
  }
  const UnknownExtent extent = unknown_extent(described);
  const std::optional<uint64_t> row = ratio ? ratio->row_bytes(extent.elements) : std::nullopt;
  uint64_t bytes = 0;
  if (row && !__builtin_mul_overflow(*row, extent.rows, &bytes)) {
    if (tensor.shape.empty()) tensor.shape.push_back(1);
    tensor.shape.back() = *row;
  } else {
    bytes = described.extent;
    tensor.shape = {bytes};
  }
  tensor.bytes = bytes;  // where it reaches beyond its extent it overlaps or is cut off
  return {};
}

Status UnknownType::resolve() {
  const std::optional<BytesRatio> found = ratio();
  for (GgufTensor* const described : tensors_) {
    if (Status set = set_size(found, *described); !set) return set;
  }
  return {};
}

std::string UnknownType::note() const {
  return fmt::format(
      "{} {} of GGUF's type {}, which this version does not know ({}): {} bytes are "
      "kept as they are",
      counted("tensor", tensors_.front()->tensor.name, tensors_.size()),
      tensors_.size() > 1 ? "are" : "is", number_, in_.source().name(),
      tensors_.size() > 1 ? "their" : "its");
}

Status resolve_unknown(const GgufCursor& in, uint64_t alignment, std::vector<GgufTensor>& tensors,
                       ParsedModel& model) {
  std::map<uint32_t, UnknownType> types;
  for (GgufTensor& described : tensors) {
    if (described.has_size) continue;
    types.try_emplace(described.type, described.type, in, alignment).first->second.add(described);
  }
  for (auto& [number, type] : types) {
    if (Status resolved = type.resolve(); !resolved) return resolved;
    if (find_ggml_type(number) == nullptr) model.notes.push_back(type.note());
  }
  return {};
}

}  // namespace

Result<ParsedModel> parse_gguf(const container::Source& source) {
  GgufCursor in(source);
  in.read_version();
  const uint64_t count = in.size();
  const uint64_t pairs = in.size();
  const uint64_t alignment = read_pairs(in, pairs, nullptr);
  std::vector<GgufTensor> tensors;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    if (Status read = read_tensor(in, alignment, tensors.emplace_back()); !read) {
      return read.error();
    }
  }
  if (!in.ok()) return in.status().error();
  const uint64_t begin = (in.position() + alignment - 1) / alignment * alignment;
  for (GgufTensor& described : tensors) described.tensor.offset += begin;
  set_extents(tensors, source.size());
  ParsedModel model{ModelFormat::gguf};
  if (Status known = resolve_unknown(in, alignment, tensors, model); !known) {
    return known.error();
  }
  for (GgufTensor& described : tensors) model.tensors.push_back(std::move(described.tensor));
  if (Status ordered = order_tensors(model.tensors, source); !ordered) {
    return ordered.error();
  }
  return model;
}

}  // namespace hoist::tensors
