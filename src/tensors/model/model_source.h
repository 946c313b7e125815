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
// What is no number that an encoding could refine appears as U8 and is kept byte for byte;
// `stored_as` says what it is: "Q4_K" and the like of GGUF, one row of bytes for each row of the
// tensor; "GGUF type 99" or "F3" of a type that this version does not know; "numpy:<U5" of an array
// whose last dimension counts the bytes of an element; "numpy:|O" of pickled objects, which nobody
// here unpickles.
//
// Elements that a file holds big-endian or column by column are read as all others are, row by row
// and little-endian; `order` says what the file has.
//
// Compressed entries of a .npz are decompressed: the file counts as the one that numpy.savez would
// have written of the same arrays, in size, offsets and skeleton.
//
// Files are untrusted. `corrupt` where a header breaks a rule of its format, tensors overlap or
// reach beyond the end; `unsupported` with the reason for what is in order but not handled;
// `exhausted` above kMaxHeaderBytes. Opening allocates a small multiple of the headers' bytes,
// never of what they claim, and decompresses no more than headers; reading keeps one decompressed
// entry. Files are read by pread(); const members may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/source.h"
#include "tensors/element_order.h"
#include "tensors/name_index.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// The limit for one file's header, and later for all its bytes outside of tensors.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 20;

// What safetensors takes, without the eight bytes of its length.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

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
  std::string stored_as;  // of bytes that are no numbers what they are; else empty
  ElementOrder order;     // in the file

  ElementGrid grid() const { return element_grid(dtype, shape, !stored_as.empty()); }
};

struct ModelFile {
  std::string name;  // without its folder
  ModelFormat format = ModelFormat::safetensors;
  uint64_t size = 0;
  bool is_decompressed = false;  // sizes and offsets are not those of the file on disk
};

class ModelSource {
 public:
  ModelSource(ModelSource&&) noexcept;
  ModelSource& operator=(ModelSource&&) noexcept;
  ~ModelSource();

  // Files, or one folder: its model.safetensors.index.json where it has one, else all its
  // .safetensors. An index brings the files that it names, from its own folder.
  static Result<ModelSource> open(const std::vector<std::string>& paths);

  std::span<const ModelFile> files() const { return files_; }
  // The paths of the same files, as they were opened.
  std::vector<std::string> paths() const;
  // File by file in the order of their bytes. Names are unique.
  std::span<const ModelTensor> tensors() const { return tensors_; }
  // What a user should know of these files, a sentence each: types that are not known, entries that
  // will not be given back byte for byte.
  std::span<const std::string> notes() const { return notes_; }

  // Its number in tensors(); nothing where there is none.
  std::optional<size_t> find(std::string_view name) const { return names_.find(tensors_, name); }

  // `into` has tensor.bytes.
  Status read(const ModelTensor& tensor, std::span<std::byte> into) const;
  // Part of it, from its byte `offset` on.
  Status read(const ModelTensor& tensor, uint64_t offset, std::span<std::byte> into) const;
  // The bytes of a file that belong to no tensor, in their order.
  Result<std::vector<std::byte>> skeleton(size_t file) const;

 private:
  struct Turned;
  ModelSource();
  Status read_turned(const ModelTensor& tensor, uint64_t offset, std::span<std::byte> into) const;
  Status read_whole(const ModelTensor& tensor, std::span<std::byte> into) const;
  Status add(const std::string& path);
  Status add_index(const std::string& path);
  Status enter_names();
  std::span<const ModelTensor> tensors_of(size_t file) const;

  std::vector<ModelFile> files_;
  std::vector<std::unique_ptr<container::Source>> compressed_;  // that some of the next read from
  std::vector<std::unique_ptr<container::Source>> sources_;
  std::vector<ModelTensor> tensors_;
  std::vector<std::string> notes_;
  // A tensor of which parts are read and that lies column by column, turned as a whole.
  std::unique_ptr<Turned> turned_;
  NameIndex names_;
};

}  // namespace hoist::tensors
