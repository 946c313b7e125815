// Files from .holo files: each packed file as it was, or one .safetensors of all tensors.
//
// With all parts of exact encodings (embedded, lossless) a restored file is the packed one byte for
// byte: header, metadata, padding and order included. With fewer parts its elements are
// approximations in the same places.
//
// Outputs appear under their names when they are whole. Memory: one tensor at a time
// (tensors/file/reader.h) and the skeleton.
#pragma once

#include <functional>
#include <string>

#include "tensors/file/reader.h"

namespace hoist::tensors {

struct RestoreOptions {
  // Of each tensor; nothing: all parts.
  std::function<PartSelection(const HoloTensor&)> selection = {};
  FaultTolerance tolerance = {};
  ThreadPool* pool = nullptr;
  // Bytes of tensors done and in all.
  std::function<void(uint64_t, uint64_t)> progress = {};
  bool durable = true;
};

struct RestoreReport {
  uint64_t bytes = 0;  // of the output
  uint64_t tensors = 0;
  uint64_t skipped = 0;  // parts that were wanted and could not be read
  double lowest_quality = 1;
};

// `unsupported` for .npz that would hold approximations: the checksums that it holds would be
// wrong.
Result<RestoreReport> restore_file(const HoloTensorReader& reader, size_t file,
                                   const std::string& path, const RestoreOptions& options = {});

// Whichever of restore_file() and write_safetensors() the name of the output asks for by its end:
// .safetensors, .gguf, .npy and .npz stand for these formats, other names for that of the packed
// file. `invalid_argument` where the packed file is of another format, and where several were
// packed and the name does not end in .safetensors.
Result<RestoreReport> restore_as_named(const HoloTensorReader& reader, const std::string& path,
                                       const RestoreOptions& options = {});

// All tensors of the file, whatever they came from, under a new header. `unsupported` where one is
// of a quantised type of GGUF, which safetensors has no name for.
Result<RestoreReport> write_safetensors(const HoloTensorReader& reader, const std::string& path,
                                        const RestoreOptions& options = {});

}  // namespace hoist::tensors
