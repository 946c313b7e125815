// Writing .holo files.
//
//   Result<HoloTensorWriter> writer = HoloTensorWriter::create("weights.holo", {.parity = 2});
//   for (…) if (Status added = writer->add("layer.0.w", view, &ThreadPool::process()); !added) …
//   if (Status done = writer->finish(); !done) …
//
// Tensors are encoded one at a time, and their parts wait on disk beside the output; finish() cuts
// them into shards, computes parity and writes the file, index first. It appears under its name,
// replacing what was there, only when it is whole and durable: a writer that fails, is destroyed or
// killed before leaves nothing.
//
// Results depend on tensors and options only: the same input gives the same file, byte for byte.
//
// Disk: twice the file's size. Memory: one tensor, its parts, and (1 + K) shards of at most 16 MiB.
// One thread at a time. After an error only destruction is useful. In a child after fork() a writer
// of its parent's answers `unavailable`, and its end changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/output_file.h"
#include "base/threads.h"
#include "tensors/file/header.h"

namespace hoist::tensors {

struct HoloWriteOptions {
  EncodeOptions encode;  // its `fragments` are also the data shards of a group
  FileOrder order = FileOrder::layer;
  uint32_t parity = 0;   // shards of each group that may be lost; fragments + parity <= 255
  bool digests = false;  // container::WriterOptions::digests
  bool durable = true;
  OutputRule output = {.replace = Replace::any};
  std::stop_token stop = {};  // finish() then returns `cancelled`
};

// Where a tensor lay in a file that was given to add_file().
struct TensorOrigin {
  uint32_t file = kNoFile;
  uint64_t offset = 0;
  std::string stored_as;
  ElementOrder order = {};
};

class HoloTensorWriter {
 public:
  static Result<HoloTensorWriter> create(const std::string& path,
                                         const HoloWriteOptions& options = {});
  HoloTensorWriter(HoloTensorWriter&&) noexcept;
  HoloTensorWriter& operator=(HoloTensorWriter&&) noexcept;
  ~HoloTensorWriter();

  // A file that tensors come from, so that it can be given back whole. Its number.
  Result<uint32_t> add_file(const std::string& name, ModelFormat format, uint64_t size,
                            std::span<const std::byte> skeleton);

  // `invalid_argument` where the name is there already. Tensors of a file come by offset.
  Status add(const std::string& name, const TensorView& tensor, ThreadPool* pool = nullptr,
             const TensorOrigin& origin = {});
  Status add(const std::string& name, EncodedTensor tensor, ThreadPool* pool = nullptr,
             const TensorOrigin& origin = {});

  // `progress` is called with bytes done and in all.
  Status finish(const std::function<void(uint64_t, uint64_t)>& progress = {});

  // What was added; with checksums once finished.
  const HoloTensorHeader& header() const;
  uint64_t file_size() const;                // 0 until finished
  std::optional<Blake3Digest> root() const;  // of a finished file with digests

 private:
  struct State;
  explicit HoloTensorWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hoist::tensors
