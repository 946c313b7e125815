// Arrays in files: NumPy's .npy by that ending, else the bytes of the elements alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "array/dtype.h"
#include "base/output_file.h"
#include "base/result.h"
#include "ir/type.h"

namespace hoist::cli {

struct ArrayContent {
  std::vector<std::byte> bytes;
  array::Shape shape;

  uint64_t elements(ir::Scalar type) const {
    return bytes.size() / static_cast<size_t>(ir::bytes(type));
  }
};

// `corrupt` for damaged files; `invalid_argument` where the elements are of another type, or are
// not in row-major order and of this machine's byte order. bf16, which NumPy has not, is read as
// u2.
Result<ArrayContent> read_array(const std::string& path, ir::Scalar type);

// Written, and yet to be published. .npy files are of version 1.0.
Result<OutputFile> write_array(const std::string& path, ir::Scalar type, const array::Shape& shape,
                               std::span<const std::byte> bytes, const OutputRule& rule);

}  // namespace hoist::cli
