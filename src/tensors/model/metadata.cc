#include "tensors/model/metadata.h"

namespace hoist::tensors {
namespace {

struct KindProperties {
  std::string_view name;
  uint8_t bytes;
};
constexpr KindProperties kKinds[kMetadataKinds] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

}  // namespace

std::string_view name(MetadataKind kind) { return kKinds[static_cast<uint32_t>(kind)].name; }

size_t metadata_bytes(MetadataKind kind) { return kKinds[static_cast<uint32_t>(kind)].bytes; }

Result<std::vector<MetadataPair>> read_metadata(ModelFormat format,
                                                const container::Source& source) {
  switch (format) {
    case ModelFormat::gguf:
      return read_gguf_metadata(source);
    case ModelFormat::safetensors:
      return read_safetensors_metadata(source);
    case ModelFormat::npy:
    case ModelFormat::npz:
    case ModelFormat::json_index:
      break;
  }
  return std::vector<MetadataPair>();
}

}  // namespace hoist::tensors
