// Opening files and saying what is in them.
#include "capi/tensors_file.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "capi/status.h"
#include "capi/structs.h"

namespace hoist::capi {
namespace {

using namespace tensors;

// Whether the reader of .holo files is the one to ask: by name, or by the first bytes.
Result<bool> is_holo(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at fails when it is opened
  if (std::filesystem::is_directory(path, ignored)) return false;
  if (path.ends_with(".holo")) return true;
  const Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  std::array<std::byte, container::kFileHeaderSize> first{};
  if ((*source)->size() < first.size()) return false;
  if (Status read = (*source)->read(0, first); !read) return read.error();
  return container::decode_file_header(first).has_value();
}

Status open(const char* path, const hoist_tensors_open_options& options, hoist_tensors_file& file) {
  file.max_tensor_bytes =
      options.max_tensor_bytes == 0 ? uint64_t{1} << 40 : options.max_tensor_bytes;
  const Result<bool> holo = is_holo(path);
  if (!holo) return holo.error();
  if (!*holo) {
    if (options.root != nullptr) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a root digest, but no .holo file ({})", path));
    }
    Result<ModelSource> model = ModelSource::open({path});
    if (!model) return model.error();
    file.model = std::move(*model);
    return {};
  }
  ReadOptions how;
  how.tensor = file.max_tensor_bytes;
  if (options.root != nullptr) {
    how.root.emplace();
    std::memcpy(how.root->data(), options.root, how.root->size());
  }
  Result<HoloTensorReader> reader = HoloTensorReader::open(path, how);
  if (!reader) return reader.error();
  file.holo = std::move(*reader);
  return {};
}

hoist_tensor describe(const HoloTensor& tensor) {
  const TensorDescription& description = tensor.description;
  hoist_tensor own{};
  own.name = tensor.name.c_str();
  own.dtype = properties(description.dtype).name.data();
  own.shape = description.shape.data();
  own.rank = description.shape.size();
  own.bytes = tensor.bytes();
  own.encoding = name(description.encoding).data();
  own.parts = tensor.parts.size();
  own.any_subset = is_any_subset(description.encoding) ? 1 : 0;
  own.stored_as = tensor.stored_as.c_str();
  return own;
}

hoist_tensor describe(const ModelTensor& tensor) {
  hoist_tensor own{};
  own.name = tensor.name.c_str();
  own.dtype = properties(tensor.dtype).name.data();
  own.shape = tensor.shape.data();
  own.rank = tensor.shape.size();
  own.bytes = tensor.bytes;
  own.encoding = "stored";
  own.stored_as = tensor.stored_as.c_str();
  return own;
}

Result<size_t> find(const hoist_tensors_file& file, std::string_view name) {
  const std::optional<size_t> found =
      file.holo ? file.holo->header().find(name) : file.model->find(name);
  if (found) return *found;
  return fail(ErrorCode::not_found, fmt::format("no tensor '{}'", name));
}

}  // namespace

Status check_tensor(const hoist_tensors_file* file, size_t tensor) {
  if (Status there = needed(file, "file"); !there) return there;
  if (tensor < file->count()) return {};
  return fail(ErrorCode::not_found,
              fmt::format("no tensor {}, there are {}", tensor, file->count()));
}

}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::ErrorCode;
using hoist::Result;
using hoist::Status;

extern "C" {

hoist_status hoist_tensors_open(const char* path, const hoist_tensors_open_options* options,
                                hoist_tensors_file** file) {
  return guarded([&]() -> Status {
    if (Status there = needed(file, "file"); !there) return there;
    *file = nullptr;
    if (Status there = needed(path, "path"); !there) return there;
    const auto own = options_of(options, "hoist_tensors_open_options");
    if (!own) return own.error();
    auto opened = std::make_unique<hoist_tensors_file>();
    if (Status done = open(path, *own, *opened); !done) return done;
    *file = opened.release();
    return {};
  });
}

void hoist_tensors_close(hoist_tensors_file* file) { delete file; }

size_t hoist_tensors_count(const hoist_tensors_file* file) {
  return file == nullptr ? 0 : file->count();
}

hoist_status hoist_tensors_find(const hoist_tensors_file* file, const char* name, size_t* tensor) {
  return guarded([&]() -> Status {
    if (Status there = needed(tensor, "tensor"); !there) return there;
    *tensor = 0;
    if (Status there = needed(file, "file"); !there) return there;
    if (Status there = needed(name, "name"); !there) return there;
    const Result<size_t> found = find(*file, name);
    if (!found) return found.error();
    *tensor = *found;
    return {};
  });
}

hoist_status hoist_tensors_describe(const hoist_tensors_file* file, size_t tensor,
                                    hoist_tensor* description) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(description, "hoist_tensor");
    if (!size) return size.error();
    give(hoist_tensor{}, *size, description);
    if (Status there = check_tensor(file, tensor); !there) return there;
    give(file->holo ? describe(file->holo->header().tensors[tensor])
                    : describe(file->model->tensors()[tensor]),
         *size, description);
    return {};
  });
}

hoist_status hoist_tensors_part(const hoist_tensors_file* file, size_t tensor, size_t part,
                                hoist_tensor_part* description) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(description, "hoist_tensor_part");
    if (!size) return size.error();
    give(hoist_tensor_part{}, *size, description);
    if (Status there = check_tensor(file, tensor); !there) return there;
    const size_t parts = file->holo ? file->holo->header().tensors[tensor].parts.size() : 0;
    if (part >= parts) {
      return hoist::fail(ErrorCode::not_found,
                         fmt::format("no part {}, there are {}", part, parts));
    }
    const auto& header = file->holo->header().tensors[tensor];
    const auto& curve = header.description.curve;
    hoist_tensor_part own{};
    own.bytes = header.parts[part].bytes;
    own.quality = curve.prefixes[part].quality;
    own.cosine = curve.prefixes[part].cosine;
    own.share = curve.any_subset() ? curve.energies[part] : 0;
    give(own, *size, description);
    return {};
  });
}

}  // extern "C"
