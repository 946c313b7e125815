// Models as people have them, tensor by tensor: safetensors (one file, several, a sharded
// model.safetensors.index.json, a folder of them), GGUF, NumPy's .npy and .npz.
//
//   Result<ModelSource> model = ModelSource::open({"model.safetensors"});
//   for (const ModelTensor& tensor : model->tensors()) {
//     std::vector<std::byte> bytes(tensor.bytes);
//     if (Status read = model->read(tensor, bytes); !read) …
//   }
//
// What of a file is no tensor (headers, names, padding) is its skeleton: skeleton and tensors
// together give the file back byte for byte.
//
// GGUF's quantised types are no numbers that an encoding could refine: they appear as U8, one row
// of bytes for each row of the tensor, and `stored_as` says what they are ("Q4_K").
//
// Files are untrusted. `corrupt` where a header breaks a rule of its format, tensors overlap or
// reach beyond the end; `unsupported` with the reason for what is in order but not handled
// (big-endian, Fortran order, compressed .npz, element types without a counterpart); `exhausted`
// above kMaxHeaderBytes. Opening allocates a small multiple of the headers' bytes, never of what
// they claim. Files are read by pread(); const members may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/source.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Of one file: header, and later all bytes outside of tensors.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 20;

// Numbers are written into files and never change their meaning.
enum class ModelFormat : uint8_t {
  safetensors = 0,
  gguf = 1,
  npy = 2,
  npz = 3,
  json_index = 4,  // model.safetensors.index.json: no tensors of its own
};
std::string_view name(ModelFormat format);

struct ModelTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t file = 0;    // number of its file
  uint64_t offset = 0;  // in that file
  uint64_t bytes = 0;
  std::string stored_as;  // of quantised types their name; else empty
};

struct ModelFile {
  std::string name;  // without its folder
  ModelFormat format = ModelFormat::safetensors;
  uint64_t size = 0;
};

class ModelSource {
 public:
  // Files, or one folder: its model.safetensors.index.json where it has one, else all its
  // .safetensors. An index brings the files that it names, from its own folder.
  static Result<ModelSource> open(const std::vector<std::string>& paths);

  std::span<const ModelFile> files() const { return files_; }
  // Of the same files, as they were opened.
  std::vector<std::string> paths() const;
  // File by file in the order of their bytes. Names are unique.
  std::span<const ModelTensor> tensors() const { return tensors_; }

  // `into` has tensor.bytes.
  Status read(const ModelTensor& tensor, std::span<std::byte> into) const;
  // Part of it, from its byte `offset` on.
  Status read(const ModelTensor& tensor, uint64_t offset, std::span<std::byte> into) const;
  // The bytes of a file that belong to no tensor, in their order.
  Result<std::vector<std::byte>> skeleton(size_t file) const;

 private:
  Status add(const std::string& path);
  Status add_index(const std::string& path);
  Status check_names() const;

  std::vector<ModelFile> files_;
  std::vector<std::unique_ptr<container::Source>> sources_;
  std::vector<ModelTensor> tensors_;
};

}  // namespace hoist::tensors
