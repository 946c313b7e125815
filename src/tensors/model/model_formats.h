// Reading one file of each format: for ModelSource, tests and fuzzers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/model/model_source.h"

namespace hoist::tensors {

struct ParsedModel {
  ModelFormat format = ModelFormat::safetensors;
  std::vector<ModelTensor> tensors = {};  // by offset, none overlapping another; file 0
  std::vector<std::string> notes = {};    // ModelSource::notes()
  // The file that sizes and offsets are about where that is not the one that was parsed: it reads
  // from that one, which must outlive it.
  std::unique_ptr<container::Source> decompressed = nullptr;
};

// By the first bytes, the name deciding between what has none of its own.
Result<ParsedModel> parse_model(const container::Source& source);

Result<ParsedModel> parse_safetensors(const container::Source& source);

// What the header of a safetensors file says, whatever follows it.
struct SafetensorsHeader {
  std::vector<ModelTensor> tensors;  // in its order; offsets from its end
  // The shapes as written of tensors of unknown types, by number in `tensors`: their
  // ModelTensor::shape counts bytes.
  std::map<size_t, Shape> foreign_shapes;
  uint64_t bytes = 0;  // with its length
};
Result<SafetensorsHeader> read_safetensors_header(const container::Source& source);

Result<ParsedModel> parse_gguf(const container::Source& source);
Result<ParsedModel> parse_npy(const container::Source& source);
Result<ParsedModel> parse_npz(const container::Source& source);

// Tensor name and file name, as "weight_map" has them. File names have no folder.
using WeightMap = std::vector<std::pair<std::string, std::string>>;
Result<WeightMap> parse_json_index(std::string_view text, const std::string& name);

// The header of a .npy at `offset`; its data must end at `end`. `unsupported`: a version of the
// format that is not known.
Result<ModelTensor> parse_npy_at(const container::Source& source, uint64_t offset, uint64_t end);

// What ModelTensor::stored_as of an array of NumPy's begins with.
inline constexpr std::string_view kNumpyPrefix = "numpy:";
// Whether it holds Python objects; and what is said of such arrays.
bool is_pickled(const ModelTensor& tensor);
std::string pickled_note(const std::string& first, size_t count, const std::string& file);

// Bytes of a tensor of that type and shape; `corrupt` where they are beyond 2^60.
Result<uint64_t> tensor_bytes(DType dtype, std::span<const uint64_t> shape,
                              const std::string& name);

// "tensor 'a' and 2 more", or "tensor 'a'".
std::string counted(std::string_view kind, const std::string& first, size_t count);

// Sorts by offset; `corrupt` where tensors overlap, reach beyond the end of the file or share a
// name.
Status order_tensors(std::vector<ModelTensor>& tensors, const container::Source& source);

}  // namespace hoist::tensors
