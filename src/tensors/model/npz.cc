// NumPy's .npz: a ZIP archive of .npy files, as numpy.savez and numpy.savez_compressed write it.
// The central directory says what there is; entries other than .npy are skeleton.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tensors/model/inflated_archive.h"
#include "tensors/model/model_formats.h"
#include "tensors/model/zip_archive.h"

namespace hoist::tensors {
namespace {

bool is_array(const ZipEntry& entry) { return entry.name.ends_with(".npy"); }

// Its bytes as they are stored.
ModelTensor opaque(const ZipEntry& entry, uint64_t begin, std::string_view why) {
  ModelTensor tensor;
  tensor.dtype = DType::u8;
  tensor.shape = {entry.stored};
  tensor.bytes = entry.stored;
  tensor.offset = begin;
  tensor.stored_as = fmt::format("{}{}", kNumpyPrefix, why);
  return tensor;
}

Result<ModelTensor> read_stored(const container::Source& source, const ZipEntry& entry,
                                uint64_t begin) {
  Result<ModelTensor> tensor = parse_npy_at(source, begin, begin + entry.size);
  if (tensor || tensor.error().code != ErrorCode::unsupported) return tensor;
  return opaque(entry, begin, "a .npy that this version does not know");
}

Result<ModelTensor> read_array(const container::Source& source, const ZipEntry& entry) {
  const Result<uint64_t> begin = zip_data_offset(source, entry);
  if (!begin) return begin.error();
  Result<ModelTensor> tensor =
      entry.is_encrypted() ? opaque(entry, *begin, "encrypted")
      : entry.method != kZipStored
          ? opaque(entry, *begin, fmt::format("compressed by method {} of ZIP", entry.method))
      : entry.stored != entry.size ? opaque(entry, *begin, "stored in two sizes")
                                   : read_stored(source, entry, *begin);
  if (tensor) tensor->name = entry.name.substr(0, entry.name.size() - 4);
  return tensor;
}

void add_notes(const container::Source& source, ParsedModel& model) {
  const ModelTensor* first = nullptr;
  size_t count = 0;
  for (const ModelTensor& tensor : model.tensors) {
    if (!is_pickled(tensor)) continue;
    if (count++ == 0) first = &tensor;
  }
  if (count > 0) model.notes.push_back(pickled_note(first->name, count, source.name()));
}

}  // namespace

Result<ParsedModel> parse_npz(const container::Source& source) {
  Result<ZipDirectory> directory = read_zip_directory(source);
  if (!directory) return directory.error();
  ParsedModel model{ModelFormat::npz};
  const auto& entries = directory->entries;
  const container::Source* shown = &source;
  const container::Source* heads = &source;
  std::unique_ptr<container::Source> inflated_heads;
  const auto inflatable = [](const ZipEntry& entry) {
    return is_array(entry) && is_inflatable(entry);
  };
  if (std::any_of(entries.begin(), entries.end(), inflatable)) {
    auto inflated = inflated_archive(source, *directory);
    if (!inflated) return inflated.error();
    model.decompressed = std::move(inflated->file);
    inflated_heads = std::move(inflated->heads);
    shown = model.decompressed.get();
    heads = inflated_heads.get();
    *directory = std::move(inflated->directory);
    model.notes.push_back(
        fmt::format("compressed arrays are taken as they are without compression ({}): unpack "
                    "writes the same arrays as numpy.savez does",
                    source.name()));
  }
  for (const ZipEntry& entry : directory->entries) {
    if (entry.name.ends_with("/data.pkl")) {
      return fail(ErrorCode::unsupported,
                  fmt::format("an archive of torch.save(), whose tensors lie in a pickle: load it "
                              "in Python and save it as .safetensors ({})",
                              source.name()));
    }
    if (!is_array(entry)) continue;
    Result<ModelTensor> tensor = read_array(*heads, entry);
    if (!tensor) return tensor.error();
    model.tensors.push_back(std::move(*tensor));
  }
  if (model.tensors.empty() && !directory->entries.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("a ZIP archive without NumPy arrays ({})", source.name()));
  }
  if (Status ordered = order_tensors(model.tensors, *shown); !ordered) {
    return ordered.error();
  }
  add_notes(source, model);
  return model;
}

}  // namespace hoist::tensors
