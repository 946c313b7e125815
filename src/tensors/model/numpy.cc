// NumPy's .npy (numpy.lib.format, versions 1 to 3): a dictionary in Python's syntax, then the
// elements.
#include <fmt/core.h>

#include <charconv>
#include <cstring>

#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kMaxNpyHeader = uint64_t{1} << 20;
constexpr size_t kMaxRank = 64;

struct NumpyType {
  std::string_view name;
  DType dtype;
};
constexpr NumpyType kTypes[] = {
    {"b1", DType::boolean}, {"i1", DType::i8},  {"u1", DType::u8},  {"i2", DType::i16},
    {"u2", DType::u16},     {"i4", DType::i32}, {"u4", DType::u32}, {"i8", DType::i64},
    {"u8", DType::u64},     {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64},
    {"c8", DType::c64},
};

// Just enough of Python's literals: {'key': 'text' | True | False | (1, 2, ), …}
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    skip_space();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool text(std::string_view& value) {
    skip_space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return false;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return false;
    value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool& value) {
    skip_space();
    value = text_.starts_with("True");
    if (!value && !text_.starts_with("False")) return false;
    text_.remove_prefix(value ? 4 : 5);
    return true;
  }
  bool tuple(Shape& values) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      if (error != std::errc() || values.size() == kMaxRank) return false;
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      take('L');  // Python 2 wrote 3L
      values.push_back(value);
      if (!take(',')) return take(')');
    }
    return true;
  }
  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() {
    const size_t first = text_.find_first_not_of(" \n\t");
    text_.remove_prefix(std::min(first, text_.size()));
  }

  std::string_view text_;
};

struct NpyHeader {
  std::string_view descr;
  bool fortran_order = false;
  Shape shape;
  int fields = 0;
};

bool parse_field(Literal& in, NpyHeader& header) {
  std::string_view key;
  if (!in.text(key) || !in.take(':')) return false;
  const int bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
  if (bit == 0 || (header.fields & bit) != 0) return false;
  header.fields |= bit;
  if (bit == 1) return in.text(header.descr);
  if (bit == 2) return in.boolean(header.fortran_order);
  return in.tuple(header.shape);
}

bool parse_header(std::string_view text, NpyHeader& header) {
  Literal in(text);
  if (!in.take('{')) return false;
  while (!in.take('}')) {
    if (!parse_field(in, header)) return false;
    if (!in.take(',') && !in.take('}')) return false;
    if (header.fields == 7 && in.at_end()) return true;
  }
  return header.fields == 7 && in.at_end();
}

tl::unexpected<Error> corrupt(const container::Source& source, std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("not a valid .npy: {} ({})", what, source.name()));
}

tl::unexpected<Error> unsupported(const container::Source& source, std::string_view what) {
  return fail(ErrorCode::unsupported,
              fmt::format("{} is not read ({}): save it as numpy.ascontiguousarray of a plain "
                          "little-endian type",
                          what, source.name()));
}

Result<DType> dtype_of(std::string_view descr, const container::Source& source) {
  const bool big = descr.starts_with('>') && !descr.ends_with('1');
  if (descr.size() == 3 && !big && std::string_view("<|>=").find(descr[0]) != descr.npos) {
    for (const NumpyType& type : kTypes) {
      if (descr.substr(1) == type.name) return type.dtype;
    }
  }
  return unsupported(source, fmt::format("NumPy's element type '{}'", descr));
}

std::string stem(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.ends_with(".npy")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

Result<ModelTensor> parse_npy_at(const container::Source& source, uint64_t offset, uint64_t end) {
  unsigned char head[12] = {};
  if (end > source.size() || offset > end || end - offset < 10) {
    return corrupt(source, "shorter than its header");
  }
  const size_t head_size = std::min<uint64_t>(sizeof head, end - offset);
  if (Status read = source.read(offset, std::as_writable_bytes(std::span(head, head_size)));
      !read) {
    return tl::unexpected(read.error());
  }
  if (std::memcmp(head, "\x93NUMPY", 6) != 0) return corrupt(source, "the first bytes are others");
  const int version = head[6];
  if (version < 1 || version > 3) {
    return unsupported(source, fmt::format("version {} of .npy", version));
  }
  uint64_t size = head[8] | head[9] << 8;
  if (version > 1) size |= static_cast<uint64_t>(head[10]) << 16 | uint64_t{head[11]} << 24;
  const uint64_t begin = offset + (version > 1 ? 12 : 10);
  if (size > kMaxNpyHeader || begin > end || size > end - begin) {
    return corrupt(source, "the header is cut off");
  }
  std::string text(size, '\0');
  if (Status read = source.read(begin, std::as_writable_bytes(std::span(text))); !read) {
    return tl::unexpected(read.error());
  }
  NpyHeader header;
  if (!parse_header(text, header)) {
    const bool structured = text.find('[') < text.find("'fortran_order'");
    if (structured) return unsupported(source, "a structured array");
    return corrupt(source, "the header is no dictionary of descr, fortran_order and shape");
  }
  if (header.fortran_order && header.shape.size() > 1) {
    return unsupported(source, "an array in Fortran order");
  }
  const Result<DType> dtype = dtype_of(header.descr, source);
  if (!dtype) return tl::unexpected(dtype.error());
  ModelTensor tensor;
  tensor.dtype = *dtype;
  tensor.shape = std::move(header.shape);
  tensor.offset = begin + size;
  const Result<uint64_t> bytes = tensor_bytes(tensor.dtype, tensor.shape, source.name());
  if (!bytes) return tl::unexpected(bytes.error());
  tensor.bytes = *bytes;
  if (tensor.bytes != end - tensor.offset) {
    return corrupt(source,
                   fmt::format("{} bytes for a shape of {}", end - tensor.offset, tensor.bytes));
  }
  return tensor;
}

Result<ParsedModel> parse_npy(const container::Source& source) {
  Result<ModelTensor> tensor = parse_npy_at(source, 0, source.size());
  if (!tensor) return tl::unexpected(tensor.error());
  tensor->name = stem(source.name());
  ParsedModel model{ModelFormat::npy, {}};
  model.tensors.push_back(std::move(*tensor));
  return model;
}

}  // namespace hoist::tensors
