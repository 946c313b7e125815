// Fuzzes the readers of model files. What one takes must keep their promises: tensors inside the
// file, ordered, not overlapping, as large as type and shape say.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tensors/model/model_formats.h"

using namespace hoist::tensors;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const hoist::Result<ParsedModel>& model, uint64_t size) {
  if (!model) {
    require(!model.error().message.empty());
    return;
  }
  uint64_t end = 0;
  for (const ModelTensor& tensor : model->tensors) {
    require(tensor.offset >= end && tensor.bytes <= size && tensor.offset <= size - tensor.bytes);
    require(byte_count(tensor.dtype, tensor.shape).value() == tensor.bytes);
    end = tensor.offset + tensor.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source =
      hoist::container::memory_source({reinterpret_cast<const std::byte*>(data), size});
  check(parse_model(*source), size);
  check(parse_safetensors(*source), size);
  check(parse_gguf(*source), size);
  check(parse_npy(*source), size);
  check(parse_npz(*source), size);
  parse_json_index({reinterpret_cast<const char*>(data), size}, "index");
  return 0;
}
