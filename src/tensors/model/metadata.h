// What model files say of themselves beside their tensors: GGUF's key-value pairs, safetensors'
// __metadata__.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/model/model_source.h"

namespace hoist::tensors {

// GGUF's numbers.
enum class MetadataKind : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  text = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
inline constexpr uint32_t kMetadataKinds = 13;
// "u8" … "f64", "bool", "string", "array": GGUF's words.
std::string_view name(MetadataKind kind);
// The size of a number; 0 for texts and arrays.
size_t metadata_bytes(MetadataKind kind);

// A number, a text, or an array of one kind. Numbers are packed: arrays of them take what they take
// in the file.
struct MetadataValue {
  MetadataKind kind = MetadataKind::text;  // of an array's elements
  bool is_array = false;
  uint64_t count = 1;                 // of an array's elements
  std::string bytes;                  // numbers, little-endian, one behind the other; or a text
  std::vector<std::string> texts;     // of an array of texts
  std::vector<MetadataValue> arrays;  // of an array of arrays
};

struct MetadataPair {
  std::string key;
  MetadataValue value;
};

// In the order of the file; keys may be there twice. Of a file, or of what a skeleton begins with;
// nothing of formats without metadata. Errors as for ModelSource. Allocates a small multiple of the
// header's bytes.
Result<std::vector<MetadataPair>> read_metadata(ModelFormat format,
                                                const container::Source& source);
Result<std::vector<MetadataPair>> read_gguf_metadata(const container::Source& source);
Result<std::vector<MetadataPair>> read_safetensors_metadata(const container::Source& source);

}  // namespace hoist::tensors
