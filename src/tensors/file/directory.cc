#include "tensors/file/directory.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "tensors/model/model_source.h"
#include "tensors/name_index.h"

namespace hoist::tensors {
namespace {

Status load_holo(const std::string& path, const QualityPolicy& policy, ThreadPool* pool,
                 LoadedDirectory& loaded) {
  const Result<HoloTensorReader> reader = HoloTensorReader::open(path);
  if (!reader) return reader.error();
  for (size_t i = 0; i < reader->header().tensors.size(); ++i) {
    PartSelection selection;
    selection.target = policy.target(reader->header().tensors[i].name);
    Result<LoadedTensor> tensor = reader->decode(i, selection, {}, pool);
    if (!tensor) return tensor.error();
    loaded.tensors.push_back(std::move(*tensor));
    ++loaded.holographic_count;
  }
  return {};
}

Status load_standard(const std::string& path, LoadedDirectory& loaded) {
  const Result<ModelSource> model = ModelSource::open({path});
  if (!model) return model.error();
  for (const ModelTensor& tensor : model->tensors()) {
    LoadedTensor& into = loaded.tensors.emplace_back();
    into.name = tensor.name;
    into.dtype = tensor.dtype;
    into.shape = tensor.shape;
    into.bytes = container::BlockBytes::allocate(tensor.bytes);
    into.parts = 1;
    if (into.bytes.size() != tensor.bytes) {
      return fail(ErrorCode::exhausted,
                  fmt::format("no memory for tensor '{}' ({})", tensor.name, path));
    }
    if (Status read = model->read(tensor, into.bytes); !read) return read;
    ++loaded.standard_count;
  }
  return {};
}

Status check_names(const LoadedDirectory& loaded, const std::string& folder) {
  NameIndex names;
  for (size_t i = 0; i < loaded.tensors.size(); ++i) {
    if (!names.add(loaded.tensors, i)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("two files have a tensor '{}' ({}): keep one of them in the folder",
                              loaded.tensors[i].name, folder));
    }
  }
  return {};
}

}  // namespace

Result<LoadedDirectory> load_directory_progressive(const std::string& folder, double min_quality,
                                                   const QualityPolicy* policy, ThreadPool* pool) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::filesystem::path extension = entries->path().extension();
    if (extension == ".holo" || extension == ".safetensors" || extension == ".hct") {
      paths.push_back(entries->path());
    }
  }
  if (error) {
    return fail(
        error == std::errc::no_such_file_or_directory ? ErrorCode::not_found : ErrorCode::io,
        fmt::format("read {}: {}", folder, error.message()), error.value());
  }
  if (paths.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("neither .holo nor .safetensors in the folder ({})", folder));
  }
  std::sort(paths.begin(), paths.end());
  const QualityPolicy everywhere(min_quality);
  LoadedDirectory loaded;
  for (const std::filesystem::path& path : paths) {
    const bool standard = path.extension() == ".safetensors";
    Status done =
        standard ? load_standard(path.string(), loaded)
                 : load_holo(path.string(), policy == nullptr ? everywhere : *policy, pool, loaded);
    if (!done) return done.error();
  }
  if (Status unique = check_names(loaded, folder); !unique) return unique.error();
  return loaded;
}

}  // namespace hoist::tensors
