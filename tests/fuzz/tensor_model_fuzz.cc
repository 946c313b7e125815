// Fuzzes the readers of model files and of their metadata. What one takes must keep their promises:
// tensors inside the file, ordered, not overlapping, as large as type and shape say; elements in
// another order are turned and turned back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tensors/model/metadata.h"
#include "tensors/model/model_formats.h"

using namespace hoist::tensors;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// What is compressed is decompressed, and found damaged, when it is read.
void check_order(const ModelTensor& tensor, const hoist::container::Source& source,
                 bool is_decompressed) {
  if (tensor.order.is_standard() && !is_decompressed) return;
  std::vector<std::byte> stored(tensor.bytes);
  std::vector<std::byte> turned(tensor.bytes);
  std::vector<std::byte> back(tensor.bytes);
  const hoist::Status read = source.read(tensor.offset, stored);
  if (!read) {
    require(is_decompressed && read.error().code == hoist::ErrorCode::corrupt);
    return;
  }
  to_standard(tensor.order, tensor.grid(), stored, turned);
  from_standard(tensor.order, tensor.grid(), turned, back);
  require(back == stored);
}

void check(const hoist::Result<ParsedModel>& model, const hoist::container::Source& source) {
  if (!model) {
    require(!model.error().message.empty());
    return;
  }
  const hoist::container::Source& shown = model->decompressed ? *model->decompressed : source;
  const uint64_t size = shown.size();
  uint64_t end = 0;
  for (const ModelTensor& tensor : model->tensors) {
    require(tensor.offset >= end && tensor.bytes <= size && tensor.offset <= size - tensor.bytes);
    require(byte_count(tensor.dtype, tensor.shape).value() == tensor.bytes);
    check_order(tensor, shown, model->decompressed != nullptr);
    end = tensor.offset + tensor.bytes;
  }
  for (const ModelFormat format : {ModelFormat::gguf, ModelFormat::safetensors}) {
    const auto pairs = read_metadata(format, source);
    require(pairs || model->format != format);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source =
      hoist::container::memory_source({reinterpret_cast<const std::byte*>(data), size});
  check(parse_model(*source), *source);
  check(parse_safetensors(*source), *source);
  check(parse_gguf(*source), *source);
  check(parse_npy(*source), *source);
  check(parse_npz(*source), *source);
  (void)parse_json_index({reinterpret_cast<const char*>(data), size}, "index");
  return 0;
}
