#include "tensors/model/model_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <unordered_set>

#include "container/reader.h"
#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kIndexEnd = ".safetensors.index.json";

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Result<std::vector<std::string>> folder_files(const std::string& folder) {
  const std::filesystem::path index = std::filesystem::path(folder) / kIndexName;
  std::error_code error;
  if (std::filesystem::exists(index, error)) return std::vector<std::string>{index.string()};
  std::vector<std::string> paths;
  std::filesystem::directory_iterator files(folder, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    if (files->path().extension() == ".safetensors") paths.push_back(files->path().string());
  }
  if (error) {
    return fail(ErrorCode::io, fmt::format("read {}: {}", folder, error.message()), error.value());
  }
  if (paths.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no .safetensors in the folder ({}): name the files", folder));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status no_memory(const ModelTensor& tensor) {
  return fail(ErrorCode::exhausted,
              fmt::format("no memory for the {} bytes of tensor '{}'", tensor.bytes, tensor.name));
}

}  // namespace

struct ModelSource::Turned {
  std::mutex mutex;
  std::pair<uint64_t, uint64_t> place;  // file and offset of the tensor whose bytes these are
  container::BlockBytes bytes;          // none: of none
};

ModelSource::ModelSource() : turned_(std::make_unique<Turned>()) {}
ModelSource::ModelSource(ModelSource&&) noexcept = default;
ModelSource& ModelSource::operator=(ModelSource&&) noexcept = default;
ModelSource::~ModelSource() = default;

Result<ModelSource> ModelSource::open(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      all.push_back(path);
      continue;
    }
    Result<std::vector<std::string>> inside = folder_files(path);
    if (!inside) return inside.error();
    all.insert(all.end(), inside->begin(), inside->end());
  }
  ModelSource model;
  for (const std::string& path : all) {
    Status added = path.ends_with(kIndexEnd) ? model.add_index(path) : model.add(path);
    if (!added) return added.error();
  }
  if (Status unique = model.enter_names(); !unique) return unique.error();
  return model;
}

Status ModelSource::add(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  Result<ParsedModel> parsed = parse_model(**source);
  if (!parsed) return parsed.error();
  for (ModelTensor& tensor : parsed->tensors) {
    tensor.file = files_.size();
    tensors_.push_back(std::move(tensor));
  }
  notes_.insert(notes_.end(), parsed->notes.begin(), parsed->notes.end());
  const bool is_decompressed = parsed->decompressed != nullptr;
  if (is_decompressed) {
    compressed_.push_back(std::move(*source));
    *source = std::move(parsed->decompressed);
  }
  files_.push_back({file_name(path), parsed->format, (*source)->size(), is_decompressed});
  sources_.push_back(std::move(*source));
  return {};
}

Status ModelSource::add_index(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  const uint64_t size = (*source)->size();
  if (size > kMaxHeaderBytes) {
    return fail(ErrorCode::exhausted, fmt::format("an index of more than 256 MiB ({})", path));
  }
  std::string text(size, '\0');
  if (Status read = (*source)->read(0, std::as_writable_bytes(std::span(text))); !read) return read;
  const Result<WeightMap> map = parse_json_index(text, path);
  if (!map) return map.error();
  files_.push_back({file_name(path), ModelFormat::json_index, size});
  sources_.push_back(std::move(*source));

  const size_t first = tensors_.size();
  std::set<std::string> names;
  for (const auto& [tensor, file] : *map) names.insert(file);
  for (const std::string& file : names) {
    if (Status added = add((std::filesystem::path(path).parent_path() / file).string()); !added) {
      return added;
    }
  }
  NameIndex held;
  for (size_t i = first; i < tensors_.size(); ++i) {
    if (held.add(tensors_, i)) continue;
    const ModelTensor& other = tensors_[*held.find(tensors_, tensors_[i].name)];
    return fail(
        ErrorCode::corrupt,
        fmt::format("tensor '{}' is both in {} and in {} ({}): take it out of one of them",
                    other.name, files_[other.file].name, files_[tensors_[i].file].name, path));
  }
  for (const auto& [tensor, file] : *map) {
    const std::optional<size_t> found = held.find(tensors_, tensor);
    if (!found || files_[tensors_[*found].file].name != file) {
      return fail(
          ErrorCode::corrupt,
          fmt::format("tensor '{}' is not in {}, where the index has it ({})", tensor, file, path));
    }
  }
  return {};
}

std::vector<std::string> ModelSource::paths() const {
  std::vector<std::string> paths;
  for (const auto& source : sources_) paths.push_back(source->name());
  return paths;
}

Status ModelSource::enter_names() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!names_.add(tensors_, i)) {
      const ModelTensor& tensor = tensors_[i];
      return fail(ErrorCode::invalid_argument,
                  fmt::format("two tensors are called '{}' ({}): pack these files one by one",
                              tensor.name, files_[tensor.file].name));
    }
  }
  std::unordered_set<std::string_view> files;
  for (const ModelFile& file : files_) {
    if (!files.insert(file.name).second) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("two inputs are called {}: pack them one by one", file.name));
    }
  }
  return {};
}

Status ModelSource::read(const ModelTensor& tensor, std::span<std::byte> into) const {
  if (into.size() != tensor.bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes of memory for the {} of tensor '{}'", into.size(),
                            tensor.bytes, tensor.name));
  }
  return read(tensor, 0, into);
}

Status ModelSource::read(const ModelTensor& tensor, uint64_t offset,
                         std::span<std::byte> into) const {
  if (offset > tensor.bytes || into.size() > tensor.bytes - offset) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes from {} on of the {} of tensor '{}'", into.size(), offset,
                            tensor.bytes, tensor.name));
  }
  if (!tensor.order.is_standard()) return read_turned(tensor, offset, into);
  return sources_[tensor.file]->read(tensor.offset + offset, into);
}

// All of it, as tensors are held.
Status ModelSource::read_whole(const ModelTensor& tensor, std::span<std::byte> into) const {
  container::BlockBytes as_stored = container::BlockBytes::allocate(into.size());
  if (as_stored.size() != into.size()) return no_memory(tensor);
  if (Status read = sources_[tensor.file]->read(tensor.offset, as_stored); !read) return read;
  to_standard(tensor.order, tensor.grid(), as_stored, into);
  return {};
}

Status ModelSource::read_turned(const ModelTensor& tensor, uint64_t offset,
                                std::span<std::byte> into) const {
  if (into.empty()) return {};
  if (into.size() == tensor.bytes) return read_whole(tensor, into);
  const size_t component = tensor.grid().component;
  if (!tensor.order.column_major && offset % component == 0 && into.size() % component == 0) {
    if (Status read = sources_[tensor.file]->read(tensor.offset + offset, into); !read) return read;
    swap_components(into, component);
    return {};
  }
  const std::lock_guard lock(turned_->mutex);
  const std::pair place(tensor.file, tensor.offset);
  if (turned_->bytes.size() != tensor.bytes || turned_->place != place) {
    turned_->bytes = {};
    container::BlockBytes bytes = container::BlockBytes::allocate(tensor.bytes);
    if (bytes.size() != tensor.bytes) return no_memory(tensor);
    if (Status read = read_whole(tensor, bytes); !read) return read;
    turned_->bytes = std::move(bytes);
    turned_->place = place;
  }
  std::copy_n(turned_->bytes.data() + offset, into.size(), into.data());
  return {};
}

std::span<const ModelTensor> ModelSource::tensors_of(size_t file) const {
  const auto first = std::ranges::lower_bound(tensors_, file, {}, &ModelTensor::file);
  const auto last = std::ranges::upper_bound(tensors_, file, {}, &ModelTensor::file);
  return {first, last};
}

Result<std::vector<std::byte>> ModelSource::skeleton(size_t file) const {
  const std::span<const ModelTensor> tensors = tensors_of(file);
  uint64_t left = files_[file].size;
  for (const ModelTensor& tensor : tensors) left -= tensor.bytes;
  if (left > kMaxHeaderBytes) {
    return fail(
        ErrorCode::exhausted,
        fmt::format("more than 256 MiB of the file are no tensors ({})", files_[file].name));
  }
  std::vector<std::byte> bytes(left);
  uint64_t position = 0;
  size_t filled = 0;
  const auto copy_until = [&](uint64_t end) -> Status {
    const auto into = std::span(bytes).subspan(filled, end - position);
    if (into.empty()) return {};
    filled += into.size();
    return sources_[file]->read(position, into);
  };
  for (const ModelTensor& tensor : tensors) {
    if (tensor.bytes == 0) continue;
    if (Status copied = copy_until(tensor.offset); !copied) return copied.error();
    position = tensor.offset + tensor.bytes;
  }
  if (Status copied = copy_until(files_[file].size); !copied) return copied.error();
  return bytes;
}

}  // namespace hoist::tensors
