#include "tensors/file/holotensor.h"

#include <fmt/core.h>

namespace hoist::tensors {
namespace {

Result<LoadedTensor> decode_only(const std::string& path, const PartSelection& selection) {
  const Result<HoloTensorReader> reader = open_holotensor(path);
  if (!reader) return reader.error();
  if (reader->header().tensors.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} tensors, not one ({}): read it with HoloTensorReader",
                            reader->header().tensors.size(), path));
  }
  return reader->decode(size_t{0}, selection, {}, &ThreadPool::process());
}

}  // namespace

Status write_holotensor(const std::string& path, const std::vector<NamedTensor>& tensors,
                        const HoloWriteOptions& options) {
  Result<HoloTensorWriter> writer = HoloTensorWriter::create(path, options);
  if (!writer) return writer.error();
  for (const NamedTensor& tensor : tensors) {
    if (Status added = writer->add(tensor.name, tensor.view, &ThreadPool::process()); !added) {
      return added;
    }
  }
  return writer->finish();
}

Result<HoloTensorReader> open_holotensor(const std::string& path) {
  return HoloTensorReader::open(path);
}

Result<std::vector<LoadedTensor>> read_holotensor(const std::string& path,
                                                  const PartSelection& selection) {
  const Result<HoloTensorReader> reader = open_holotensor(path);
  if (!reader) return reader.error();
  std::vector<LoadedTensor> tensors;
  for (size_t i = 0; i < reader->header().tensors.size(); ++i) {
    Result<LoadedTensor> tensor = reader->decode(i, selection, {}, &ThreadPool::process());
    if (!tensor) return tensor.error();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Status encode_to_file(const std::string& path, const NamedTensor& tensor,
                      const HoloWriteOptions& options) {
  return write_holotensor(path, {tensor}, options);
}

Result<LoadedTensor> decode_from_file(const std::string& path) { return decode_only(path, {}); }

Result<LoadedTensor> decode_from_file_progressive(const std::string& path, double target) {
  PartSelection selection;
  selection.target = target;
  return decode_only(path, selection);
}

}  // namespace hoist::tensors
