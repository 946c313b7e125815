// GGUF, versions 2 and 3 (ggml's docs/gguf.md): key-value pairs, tensor descriptions, then the
// tensors at aligned offsets. Everything but the tensors is passed over and kept as skeleton.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kMaxName = uint64_t{64} << 10;
constexpr uint32_t kMaxRank = 8;
constexpr int kMaxNesting = 4;  // of arrays
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;

struct GgmlType {
  uint32_t number;
  std::string_view name;
  uint32_t block_elements;
  uint32_t block_bytes;
  std::optional<DType> dtype;  // nothing: quantised
};

constexpr GgmlType kTypes[] = {
    {0, "F32", 1, 4, DType::f32},  {1, "F16", 1, 2, DType::f16},    {2, "Q4_0", 32, 18, {}},
    {3, "Q4_1", 32, 20, {}},       {6, "Q5_0", 32, 22, {}},         {7, "Q5_1", 32, 24, {}},
    {8, "Q8_0", 32, 34, {}},       {9, "Q8_1", 32, 36, {}},         {10, "Q2_K", 256, 84, {}},
    {11, "Q3_K", 256, 110, {}},    {12, "Q4_K", 256, 144, {}},      {13, "Q5_K", 256, 176, {}},
    {14, "Q6_K", 256, 210, {}},    {15, "Q8_K", 256, 292, {}},      {16, "IQ2_XXS", 256, 66, {}},
    {17, "IQ2_XS", 256, 74, {}},   {18, "IQ3_XXS", 256, 98, {}},    {19, "IQ1_S", 256, 50, {}},
    {20, "IQ4_NL", 32, 18, {}},    {21, "IQ3_S", 256, 110, {}},     {22, "IQ2_S", 256, 82, {}},
    {23, "IQ4_XS", 256, 136, {}},  {24, "I8", 1, 1, DType::i8},     {25, "I16", 1, 2, DType::i16},
    {26, "I32", 1, 4, DType::i32}, {27, "I64", 1, 8, DType::i64},   {28, "F64", 1, 8, DType::f64},
    {29, "IQ1_M", 256, 56, {}},    {30, "BF16", 1, 2, DType::bf16}, {34, "TQ1_0", 256, 54, {}},
    {35, "TQ2_0", 256, 66, {}},    {39, "MXFP4", 32, 17, {}},
};

// Sizes of the values of scalar kinds 0 to 12; 0: strings and arrays.
constexpr uint8_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr uint32_t kString = 8;
constexpr uint32_t kArray = 9;
constexpr uint32_t kU32 = 4;

// A cursor over the head of the file that remembers its first error.
class Cursor {
 public:
  explicit Cursor(const container::Source& source) : source_(source) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.has_value(); }
  uint64_t position() const { return begin_ + at_; }

  template <typename T>
  T read() {
    T value{};
    if (fill(sizeof value)) {
      std::memcpy(&value, window_.data() + at_, sizeof value);
      at_ += sizeof value;
    }
    return value;
  }
  std::string text(uint64_t limit) {
    const auto size = read<uint64_t>();
    if (ok() && size > limit) refuse("a name of more than 64 KiB");
    if (!ok() || !fill(size)) return {};
    std::string value(window_.data() + at_, size);
    at_ += size;
    return value;
  }
  void skip(uint64_t size) {
    const uint64_t left = source_.size() - std::min(source_.size(), position());
    if (!ok()) return;
    if (size > left) return refuse("the header is cut off");
    const uint64_t target = position() + size;
    if (target > kMaxHeaderBytes) return too_large();
    if (size <= window_.size() - at_) {
      at_ += size;
      return;
    }
    begin_ = target;
    at_ = 0;
    window_.clear();
  }
  void refuse(std::string_view what) {
    if (ok()) {
      status_ = fail(ErrorCode::corrupt,
                     fmt::format("not a valid GGUF file: {} ({})", what, source_.name()));
    }
  }

 private:
  static constexpr size_t kWindow = size_t{64} << 10;

  void too_large() {
    if (ok()) {
      status_ = fail(ErrorCode::exhausted,
                     fmt::format("a GGUF header of more than 256 MiB ({})", source_.name()));
    }
  }
  // Whether `size` bytes, at most kMaxName, lie in the window from at_ on.
  bool fill(size_t size) {
    if (!ok()) return false;
    if (window_.size() - at_ >= size) return true;
    begin_ += at_;
    at_ = 0;
    window_.clear();
    const uint64_t left = source_.size() - std::min(source_.size(), begin_);
    if (size > left) return refuse("the header is cut off"), false;
    if (begin_ + size > kMaxHeaderBytes) return too_large(), false;
    window_.resize(std::min<uint64_t>(left, kWindow));
    status_ = source_.read(begin_, std::as_writable_bytes(std::span(window_)));
    return ok();
  }

  const container::Source& source_;
  Status status_;
  std::vector<char> window_;
  uint64_t begin_ = 0;
  size_t at_ = 0;
};

void skip_value(Cursor& in, uint32_t kind, int nesting) {
  if (kind == kString) return in.skip(in.read<uint64_t>());
  if (kind != kArray) {
    if (kind >= std::size(kValueBytes)) return in.refuse("a value of an unknown kind");
    return in.skip(kValueBytes[kind]);
  }
  const auto element = in.read<uint32_t>();
  const auto count = in.read<uint64_t>();
  if (nesting == kMaxNesting) return in.refuse("arrays nested too deep");
  if (element < std::size(kValueBytes) && kValueBytes[element] != 0) {
    if (count > container::kMaxSize / 8) return in.refuse("an array larger than any file");
    return in.skip(count * kValueBytes[element]);
  }
  for (uint64_t i = 0; i < count && in.ok(); ++i) skip_value(in, element, nesting + 1);
}

// The pairs; gives the alignment that they ask for.
uint64_t read_pairs(Cursor& in, uint64_t count) {
  uint64_t alignment = 32;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string key = in.text(kMaxName);
    const auto kind = in.read<uint32_t>();
    if (key == "general.alignment" && kind == kU32) {
      alignment = in.read<uint32_t>();
    } else {
      skip_value(in, kind, 0);
    }
  }
  if (alignment == 0 || alignment % 8 != 0 || alignment > kMaxAlignment) {
    in.refuse("an alignment that is no multiple of 8 up to 1 MiB");
  }
  return alignment;
}

const GgmlType* find_type(uint32_t number) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const GgmlType& type) { return type.number == number; });
  return found == std::end(kTypes) ? nullptr : found;
}

// A row of quantised elements as a row of bytes.
Status set_type(ModelTensor& tensor, uint32_t number, const container::Source& source) {
  const GgmlType* const type = find_type(number);
  if (type == nullptr) {
    return fail(ErrorCode::unsupported,
                fmt::format("tensor '{}' is of GGUF's type {}, which this version does not know "
                            "({})",
                            tensor.name, number, source.name()));
  }
  tensor.dtype = type->dtype.value_or(DType::u8);
  if (!type->dtype) {
    tensor.stored_as = type->name;
    if (tensor.shape.empty()) tensor.shape.push_back(1);
    uint64_t& row = tensor.shape.back();
    if (row % type->block_elements != 0 || row > container::kMaxSize / type->block_bytes) {
      return fail(ErrorCode::corrupt,
                  fmt::format("rows of tensor '{}' are no whole blocks of {} ({})", tensor.name,
                              type->name, source.name()));
    }
    row = row / type->block_elements * type->block_bytes;
  }
  Result<uint64_t> bytes = tensor_bytes(tensor.dtype, tensor.shape, tensor.name);
  if (!bytes) return tl::unexpected(bytes.error());
  tensor.bytes = *bytes;
  return {};
}

Status read_tensor(Cursor& in, uint64_t alignment, const container::Source& source,
                   ModelTensor& tensor) {
  tensor.name = in.text(kMaxName);
  const auto rank = in.read<uint32_t>();
  if (rank > kMaxRank) in.refuse("a tensor of more than 8 dimensions");
  for (uint32_t i = 0; i < rank && in.ok(); ++i) tensor.shape.push_back(in.read<uint64_t>());
  // GGUF names the fastest dimension first.
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  const auto type = in.read<uint32_t>();
  tensor.offset = in.read<uint64_t>();
  if (tensor.offset > container::kMaxSize || tensor.offset % alignment != 0) {
    in.refuse("a tensor that is not aligned");
  }
  if (!in.ok()) return in.status();
  return set_type(tensor, type, source);
}

Status check_version(Cursor& in, const container::Source& source) {
  const auto magic = in.read<uint32_t>();
  const auto version = in.read<uint32_t>();
  if (!in.ok()) return in.status();
  if (magic != 0x46554747) {
    in.refuse("the first bytes are others");
    return in.status();
  }
  if (version == 2 || version == 3) return {};
  const bool other_end = (version & 0xffff) == 0;
  return fail(
      ErrorCode::unsupported,
      fmt::format("GGUF {} ({}): versions 2 and 3, little-endian, are read",
                  other_end ? "in big-endian" : fmt::format("version {}", version), source.name()));
}

}  // namespace

Result<ParsedModel> parse_gguf(const container::Source& source) {
  Cursor in(source);
  if (Status version = check_version(in, source); !version) {
    return tl::unexpected(version.error());
  }
  const auto tensors = in.read<uint64_t>();
  const auto pairs = in.read<uint64_t>();
  const uint64_t alignment = read_pairs(in, pairs);
  ParsedModel model{ModelFormat::gguf, {}};
  for (uint64_t i = 0; i < tensors && in.ok(); ++i) {
    ModelTensor tensor;
    if (Status read = read_tensor(in, alignment, source, tensor); !read) {
      return tl::unexpected(read.error());
    }
    model.tensors.push_back(std::move(tensor));
  }
  if (!in.ok()) return tl::unexpected(in.status().error());
  const uint64_t begin = (in.position() + alignment - 1) / alignment * alignment;
  for (ModelTensor& tensor : model.tensors) tensor.offset += begin;
  if (Status ordered = order_tensors(model.tensors, source); !ordered) {
    return tl::unexpected(ordered.error());
  }
  return model;
}

}  // namespace hoist::tensors
