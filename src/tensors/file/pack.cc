#include "tensors/file/pack.h"

#include <fmt/core.h>

#include "container/reader.h"

namespace hoist::tensors {
namespace {

Status add_files(const ModelSource& model, HoloTensorWriter& writer) {
  for (size_t i = 0; i < model.files().size(); ++i) {
    const ModelFile& file = model.files()[i];
    Result<std::vector<std::byte>> skeleton = model.skeleton(i);
    if (!skeleton) return skeleton.error();
    Result<uint32_t> added = writer.add_file(file.name, file.format, file.size, *skeleton);
    if (!added) return added.error();
  }
  return {};
}

Status add_tensor(const ModelSource& model, const ModelTensor& tensor, ThreadPool* pool,
                  HoloTensorWriter& writer) {
  container::BlockBytes bytes = container::BlockBytes::allocate(tensor.bytes);
  if (bytes.size() != tensor.bytes) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for the {} bytes of tensor '{}'",
                                                  tensor.bytes, tensor.name));
  }
  if (Status read = model.read(tensor, bytes); !read) return read;
  const TensorOrigin origin{static_cast<uint32_t>(tensor.file), tensor.offset, tensor.stored_as,
                            tensor.order};
  return writer.add(tensor.name, TensorView{tensor.dtype, tensor.shape, bytes}, pool, origin);
}

}  // namespace

Result<HoloTensorWriter> pack_model(const ModelSource& model, const std::string& path,
                                    const HoloWriteOptions& options, ThreadPool* pool,
                                    const PackProgress& progress) {
  Result<HoloTensorWriter> writer = HoloTensorWriter::create(path, options);
  if (!writer) return writer;
  if (Status added = add_files(model, *writer); !added) return added.error();
  uint64_t total = 0;
  for (const ModelTensor& tensor : model.tensors()) total += tensor.bytes;
  uint64_t done = 0;
  for (const ModelTensor& tensor : model.tensors()) {
    if (options.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
    if (Status added = add_tensor(model, tensor, pool, *writer); !added) {
      return added.error();
    }
    done += tensor.bytes;
    if (progress.encoded) progress.encoded(done, total);
  }
  if (Status finished = writer->finish(progress.written); !finished) {
    return finished.error();
  }
  return writer;
}

}  // namespace hoist::tensors
