// Element types: the one table of them, with the names that formats and frameworks give.
//
//   const DTypeProperties* type = find_dtype("BF16");
//   uint64_t bytes = byte_count(type->dtype, shape).value();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "array/dtypes.h"
#include "base/result.h"

namespace hoist::array {

// Where an array of that type can be had in Python.
enum class Holder : uint8_t {
  none,
  numpy,      // and PyTorch
  ml_dtypes,  // NumPy with that package, and PyTorch
  torch,      // PyTorch alone
};

// A type as DLPack numbers it (dlpack.h, DLDataTypeCode).
struct DlpackType {
  uint8_t code = 0;
  uint8_t bits = 0;  // 0: DLPack has no such type
};

struct DTypeProperties {
  DType dtype;
  std::string_view name;  // of safetensors: "BF16"
  size_t bytes;           // of an element, or of `packed` elements that share them
  bool is_float;
  std::string_view framework;  // what NumPy, ml_dtypes and PyTorch call it: "bfloat16"
  Holder holder;
  DlpackType dlpack;
  size_t packed = 1;           // F4: two in a byte; F6: four in three
  size_t components = 1;       // numbers of an element: complex has two
  bool in_safetensors = true;  // whether that format has the type
};

// In the order of their numbers.
std::span<const DTypeProperties> all_dtypes();
// nullptr: none is called, or numbered, so.
const DTypeProperties* find_dtype(std::string_view safetensors_name);
const DTypeProperties* find_dtype(uint8_t number);
const DTypeProperties* find_dtype(DlpackType type);
const DTypeProperties& properties(DType dtype);

using Shape = std::vector<uint64_t>;

// 1 for rank 0. `invalid_argument` where it does not fit 60 bits.
Result<uint64_t> element_count(std::span<const uint64_t> shape);
// `invalid_argument` as above, and where the elements do not fill their last byte.
Result<uint64_t> byte_count(DType dtype, std::span<const uint64_t> shape);

}  // namespace hoist::array
