// NumPy's .npy (numpy.lib.format, versions 1 to 3): a dictionary in Python's syntax, then the
// elements.
#include <fmt/core.h>

#include <charconv>
#include <cstring>

#include "tensors/model/model_formats.h"
#include "tensors/model/numpy_literal.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kMaxNpyHeader = uint64_t{1} << 20;
constexpr size_t kMaxDescription = size_t{60} << 10;  // .holo files hold 64 KiB

struct NumpyType {
  std::string_view name;
  DType dtype;
};
constexpr NumpyType kTypes[] = {
    {"b1", DType::boolean}, {"i1", DType::i8},    {"u1", DType::u8},  {"i2", DType::i16},
    {"u2", DType::u16},     {"i4", DType::i32},   {"u4", DType::u32}, {"i8", DType::i64},
    {"u8", DType::u64},     {"f2", DType::f16},   {"f4", DType::f32}, {"f8", DType::f64},
    {"c8", DType::c64},     {"c16", DType::c128},
};

struct NpyHeader {
  std::string_view descr;  // a type, or the list of a structure's fields
  bool fortran_order = false;
  Shape shape;
  int fields = 0;
};

bool parse_field(NumpyLiteral& in, NpyHeader& header) {
  std::string_view key;
  if (!in.text(key) || !in.take(':')) return false;
  const int bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
  if (bit == 0 || (header.fields & bit) != 0) return false;
  header.fields |= bit;
  if (bit == 1) return in.text(header.descr) || in.list(header.descr);
  if (bit == 2) return in.boolean(header.fortran_order);
  return in.tuple(header.shape);
}

bool parse_header(std::string_view text, NpyHeader& header) {
  NumpyLiteral in(text);
  if (!in.take('{')) return false;
  while (!in.take('}')) {
    if (!parse_field(in, header)) return false;
    if (!in.take(',') && !in.take('}')) return false;
    if (header.fields == 7 && in.at_end()) return true;
  }
  return header.fields == 7 && in.at_end();
}

Error corrupt(const container::Source& source, std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("not a valid .npy: {} ({})", what, source.name()));
}

Error unsupported(const container::Source& source, std::string_view what) {
  return fail(
      ErrorCode::unsupported,
      fmt::format("{} is not read ({}): save it again with a current NumPy", what, source.name()));
}

// Whether elements are, or hold, pickled Python objects: then bytes are no multiple of anything.
bool holds_objects(std::string_view descr) {
  if (!descr.starts_with('[')) return descr.find('O') != descr.npos;
  return descr.find("'|O'") != descr.npos || descr.find("\"|O\"") != descr.npos;
}

const NumpyType* find_type(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<|>=").find(descr[0]) == descr.npos) return nullptr;
  for (const NumpyType& type : kTypes) {
    if (descr.substr(1) == type.name) return &type;
  }
  return nullptr;
}

// Bytes of an element of a simple type by its name: "<U5", "|S3", ">M8[ns]", "<f16".
std::optional<uint64_t> named_bytes(std::string_view descr) {
  if (descr.size() < 3 || descr.starts_with('[')) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), number);
  const bool has_unit = end != descr.data() + descr.size();
  if (error != std::errc() || number > container::kMaxSize / 4) return std::nullopt;
  if (has_unit && (descr[1] != 'M' && descr[1] != 'm')) return std::nullopt;
  return descr[1] == 'U' ? 4 * number : number;
}

// An array whose type has no counterpart: its last dimension counts the bytes of an element.
Status set_foreign(const NpyHeader& header, uint64_t bytes, const container::Source& source,
                   ModelTensor& tensor) {
  tensor.dtype = DType::u8;
  tensor.stored_as = fmt::format("{}{}", kNumpyPrefix, header.descr);
  if (holds_objects(header.descr)) {
    tensor.shape = {bytes};
    tensor.order = {};
    return {};
  }
  const Result<uint64_t> count = element_count(tensor.shape);
  if (!count) return count.error();
  const uint64_t divided = *count == 0 ? 0 : bytes / *count;
  tensor.shape.push_back(named_bytes(header.descr).value_or(divided));
  return {};
}

Status set_type(const NpyHeader& header, uint64_t bytes, const container::Source& source,
                ModelTensor& tensor) {
  tensor.order.column_major = header.fortran_order && header.shape.size() > 1;
  tensor.shape = header.shape;
  if (const NumpyType* const type = find_type(header.descr)) {
    tensor.dtype = type->dtype;
    const DTypeProperties& about = properties(type->dtype);
    tensor.order.big_endian = header.descr[0] == '>' && about.bytes / about.components > 1;
  } else if (Status set = set_foreign(header, bytes, source, tensor); !set) {
    return set;
  }
  const Result<uint64_t> size = tensor_bytes(tensor.dtype, tensor.shape, source.name());
  if (!size) return size.error();
  tensor.bytes = *size;
  if (tensor.bytes == bytes) return {};
  return corrupt(source, fmt::format("{} bytes for a shape of {}", bytes, tensor.bytes));
}

// Headers before version 3 are Latin-1.
std::string to_utf8(std::string_view latin1) {
  std::string text;
  for (const char c : latin1) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return text;
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
    return read.error();
  }
  if (std::memcmp(head, "\x93NUMPY", 6) != 0)
    return corrupt(source, "it does not begin as a .npy file does");
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
    return read.error();
  }
  if (version < 3) text = to_utf8(text);
  NpyHeader header;
  if (!parse_header(text, header)) {
    return corrupt(source, "the header is no dictionary of descr, fortran_order and shape");
  }
  if (header.descr.size() > kMaxDescription) {
    return unsupported(source, "a structure whose description takes more than 60 KiB");
  }
  ModelTensor tensor;
  tensor.offset = begin + size;
  if (Status set = set_type(header, end - tensor.offset, source, tensor); !set) {
    return set.error();
  }
  return tensor;
}

bool is_pickled(const ModelTensor& tensor) {
  return tensor.stored_as.starts_with(kNumpyPrefix) &&
         holds_objects(std::string_view(tensor.stored_as).substr(kNumpyPrefix.size()));
}

std::string pickled_note(const std::string& first, size_t count, const std::string& file) {
  return fmt::format(
      "{} hold{} pickled Python objects ({}): their bytes are kept and never "
      "unpickled",
      counted("array", first, count), count > 1 ? "" : "s", file);
}

Result<ParsedModel> parse_npy(const container::Source& source) {
  Result<ModelTensor> tensor = parse_npy_at(source, 0, source.size());
  if (!tensor) return tensor.error();
  tensor->name = stem(source.name());
  ParsedModel model{ModelFormat::npy};
  if (is_pickled(*tensor)) model.notes.push_back(pickled_note(tensor->name, 1, source.name()));
  model.tensors.push_back(std::move(*tensor));
  return model;
}

}  // namespace hoist::tensors
