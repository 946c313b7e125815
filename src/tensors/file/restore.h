// Files from .holo files: each packed file as it was, or one .safetensors of all tensors.
//
// With all parts of exact encodings (embedded, lossless) a restored file is the packed one byte for
// byte: header, metadata, padding and order included. With fewer parts its elements are
// approximations in the same places.
//
// Where tensors cannot be read any more, RestoreOptions::skip_damaged leaves them out: then the
// file is a smaller one of the same format, which names no tensor that it does not hold.
//
// Outputs appear under their names when they are whole, several of them all at once. Memory: one
// tensor at a time (tensors/file/reader.h) and the skeleton.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "tensors/file/reader.h"

namespace hoist::tensors {

struct RestoreOptions {
  // Selects the parts of each tensor; nothing: all parts.
  std::function<PartSelection(const HoloTensor&)> selection = {};
  FaultTolerance tolerance = {};
  // Leave out tensors that are damaged beyond that, and say which. Reads the file twice.
  bool skip_damaged = false;
  ThreadPool* pool = nullptr;
  // Bytes of tensors done and in all.
  std::function<void(uint64_t, uint64_t)> progress = {};
  bool durable = true;
  OutputRule output = {.replace = Replace::any};
};

struct LeftOut {
  std::string name;
  std::string why;
};

struct RestoreReport {
  uint64_t bytes = 0;  // of the output
  uint64_t tensors = 0;
  uint64_t skipped = 0;  // parts that were wanted and could not be read
  double lowest_quality = 1;
  std::vector<LeftOut> left_out;  // tensors, with skip_damaged
};

// `unsupported` for .npz that would hold approximations, or not all of its tensors: the checksums
// and the directory that it holds would be wrong. `corrupt` where nothing can be read.
Result<RestoreReport> restore_file(const HoloTensorReader& reader, size_t file,
                                   const std::string& path, const RestoreOptions& options = {});

// All packed files under their names in `folder`, which is made where it is missing.
Result<RestoreReport> restore_all(const HoloTensorReader& reader, const std::string& folder,
                                  const RestoreOptions& options = {});

// Whichever of restore_file() and write_safetensors() the name of the output asks for by its end:
// .safetensors, .gguf, .npy and .npz stand for these formats, other names for that of the packed
// file. `invalid_argument` where the packed file is of another format, and where several were
// packed and the name does not end in .safetensors.
Result<RestoreReport> restore_as_named(const HoloTensorReader& reader, const std::string& path,
                                       const RestoreOptions& options = {});

// All tensors of the file, whatever they came from, under a new header. `unsupported` where one is
// of a type that safetensors has no name for.
Result<RestoreReport> write_safetensors(const HoloTensorReader& reader, const std::string& path,
                                        const RestoreOptions& options = {});

}  // namespace hoist::tensors
