#include "cli/array_file.h"

#include <fmt/format.h>

#include <optional>

#include "container/source.h"
#include "tensors/model/model_formats.h"

namespace hoist::cli {
namespace {

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

// As NumPy calls it.
std::string_view numpy_code(ir::Scalar type) {
  constexpr std::string_view kCodes[ir::kScalars] = {
      "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<u2", "<f4", "<f8"};
  return kCodes[static_cast<size_t>(type)];
}

bool holds(array::DType stored, ir::Scalar type) {
  const std::optional<ir::Scalar> scalar = ir::scalar_of(stored);
  return scalar == type || (type == ir::Scalar::bf16 && scalar == ir::Scalar::u16);
}

Status check_type(const tensors::ModelTensor& tensor, ir::Scalar type, const std::string& path) {
  const bool is_plain =
      tensor.stored_as.empty() && !tensor.order.column_major && !tensor.order.big_endian;
  if (!is_plain) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the elements are not plain and in row-major order ({}): save them as "
                            "numpy.ascontiguousarray(a, '{}')",
                            path, numpy_code(type)));
  }
  if (holds(tensor.dtype, type)) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("the file holds {}, and the array is {} ({}): save it as a.astype('{}')",
                  array::properties(tensor.dtype).framework, name(type), path, numpy_code(type)));
}

Result<ArrayContent> read_bytes(const container::Source& source, uint64_t offset,
                                array::Shape shape) {
  ArrayContent content;
  content.shape = std::move(shape);
  content.bytes.resize(source.size() - offset);
  if (Status read = source.read(offset, content.bytes); !read) return read.error();
  return content;
}

// The header, padded so that the elements are aligned to 64 bytes.
std::string npy_header(ir::Scalar type, const array::Shape& shape) {
  std::string extents;
  for (const uint64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.resize(extents.size() - 1);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 numpy_code(type), extents);
  constexpr size_t kBefore = 10;
  text.append(63 - (kBefore + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace

Result<ArrayContent> read_array(const std::string& path, ir::Scalar type) {
  const auto source = container::open_file_source(path);
  if (!source) return source.error();
  if (is_npy(path)) {
    const Result<tensors::ModelTensor> tensor =
        tensors::parse_npy_at(**source, 0, (*source)->size());
    if (!tensor) return tensor.error();
    if (Status checked = check_type(*tensor, type, path); !checked) return checked.error();
    return read_bytes(**source, tensor->offset, tensor->shape);
  }
  const auto element = static_cast<uint64_t>(ir::bytes(type));
  if ((*source)->size() % element != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes are no whole number of {} ({}): check the file's type",
                            (*source)->size(), name(type), path));
  }
  return read_bytes(**source, 0, {(*source)->size() / element});
}

Result<OutputFile> write_array(const std::string& path, ir::Scalar type, const array::Shape& shape,
                               std::span<const std::byte> bytes, const OutputRule& rule) {
  Result<OutputFile> file = OutputFile::create(path, rule);
  if (!file) return file.error();
  if (is_npy(path)) {
    const std::string header = npy_header(type, shape);
    if (Status done = write_full(file->fd(), header.data(), header.size(), path); !done) {
      return done.error();
    }
  }
  if (Status done = write_full(file->fd(), bytes.data(), bytes.size(), path); !done) {
    return done.error();
  }
  return file;
}

}  // namespace hoist::cli
