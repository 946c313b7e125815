// Reading .holo files.
//
//   Result<HoloTensorReader> reader = HoloTensorReader::open("weights.holo");
//   Result<LoadedTensor> tensor = reader->decode(0, {.target = 0.99});
//
// decode() loads the parts that the selection asks for and no others, and says how good the result
// is by the curve that was measured when the file was written. Damage of shards is mended through
// parity on the way, and of the metadata by its copies, without changing the file (`hoist tensors
// repair` does).
//
// Memory: opening allocates a few times the metadata's bytes, which lie in the file. Decoding a
// tensor takes its size, its stored parts, and what its decoder needs, a small multiple of its
// size. A tensor's size is at most kMaxExpansion times its stored bytes and within
// ReadOptions::tensor; `exhausted` beyond.
//
// A reader is immutable: const members may be called from several threads at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensors/file/fetcher.h"

namespace hoist::tensors {

struct ReadOptions {
  uint64_t tensor = uint64_t{1} << 40;              // bytes of a decoded tensor
  std::optional<Blake3Digest> root = std::nullopt;  // container::ReaderOptions::root
  FetchOptions fetch = {};
  int priority = 100;  // of this file among several sources
};

// Which parts of a tensor to load: all, or what the first field says that is set. Tensors that have
// fewer parts than are asked for (a lossless one has one) give what they have.
struct PartSelection {
  // The fewest layers, or fragments from the first on, whose measured quality reaches it.
  std::optional<double> target = std::nullopt;
  std::optional<size_t> layers = std::nullopt;  // the first so many, at least one
  // These parts of any-subset encodings; others are loaded whole.
  std::vector<size_t> fragments = {};
};

// What to do where parts cannot be read.
struct FaultTolerance {
  // Go on without them: with the layers before, or the other fragments.
  bool skip_corrupted = false;
  // `corrupt` where a tensor stays below. 0: none is asked for, and first parts may be below it.
  double min_quality = 0;
};

struct LoadedTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  container::BlockBytes bytes;
  double quality = 1;  // measured, of what was loaded
  size_t parts = 0;    // that were loaded
  size_t skipped = 0;  // that were wanted and could not be read
};

// A shard as the file has it, and its place.
struct FragmentIndexEntry {
  uint64_t index = 0;   // number of the shard
  uint64_t offset = 0;  // of its bytes in the file
  uint64_t bytes = 0;
  uint64_t checksum = 0;
  uint32_t group = 0;
  bool is_parity = false;
};
struct HoloFragment {
  FragmentIndexEntry entry;
  std::vector<std::byte> bytes;
};

class HoloTensorReader {
 public:
  static Result<HoloTensorReader> open(const std::string& path, const ReadOptions& options = {});
  static Result<HoloTensorReader> open(std::unique_ptr<container::Source> source,
                                       const ReadOptions& options = {});

  const HoloTensorHeader& header() const { return index_->header; }
  const Layout& layout() const { return index_->layout; }
  std::shared_ptr<const HoloIndex> index() const { return index_; }
  const container::Reader& container() const { return *container_; }
  const std::string& name() const { return container_->source().name(); }
  uint64_t file_size() const { return container_->source().size(); }

  // The metadata was damaged, and a copy of it was read.
  bool metadata_was_damaged() const { return metadata_was_damaged_; }

  // Adds a further source of this file's shards. Not while other members run.
  void add_source(std::shared_ptr<FragmentSource> source);
  const FragmentFetcher& fetcher() const { return *fetcher_; }
  // This file as a source for the reader of another copy.
  std::shared_ptr<FragmentSource> as_source(int priority) const {
    return std::make_shared<FileFragmentSource>(container_, priority);
  }

  // Which shards there are; and one of them, checked.
  std::vector<FragmentIndexEntry> fragment_index() const;
  Result<HoloFragment> read_fragment(uint64_t shard) const;

  Result<LoadedTensor> decode(size_t tensor, const PartSelection& selection = {},
                              const FaultTolerance& tolerance = {},
                              ThreadPool* pool = nullptr) const;
  // `not_found` where there is no such tensor.
  Result<LoadedTensor> decode(std::string_view tensor, const PartSelection& selection = {},
                              const FaultTolerance& tolerance = {},
                              ThreadPool* pool = nullptr) const;

  // Into the caller's memory, which has exactly the tensor's size (else `invalid_argument`); the
  // answer's `bytes` are empty.
  Result<LoadedTensor> decode_into(size_t tensor, std::span<std::byte> into,
                                   const PartSelection& selection = {},
                                   const FaultTolerance& tolerance = {},
                                   ThreadPool* pool = nullptr) const;

  // Gives the bytes from `offset` on of what decode() gives with all parts. In embedded and
  // lossless tensors it reads and decodes only the shards, tiles and frames that hold them; in
  // other encodings every element depends on all that is stored. `invalid_argument`: not within the
  // tensor.
  Status decode_range(size_t tensor, uint64_t offset, std::span<std::byte> into,
                      ThreadPool* pool = nullptr) const;

  Result<std::vector<std::byte>> skeleton(size_t file) const;

 private:
  HoloTensorReader() = default;
  Status check_number(size_t tensor) const;
  FragmentIndexEntry fragment_entry(uint64_t number) const;

  ReadOptions options_;
  bool metadata_was_damaged_ = false;
  std::shared_ptr<const container::Reader> container_;
  std::shared_ptr<const HoloIndex> index_;
  std::vector<std::shared_ptr<FragmentSource>> sources_;
  std::shared_ptr<const FragmentFetcher> fetcher_;
};

// The parts that a selection means, ascending. `invalid_argument` where none is left.
Result<std::vector<size_t>> selected_parts(const HoloTensor& tensor,
                                           const PartSelection& selection);

// The same without a file: an index and any sources.
Result<LoadedTensor> decode_tensor(const FragmentFetcher& fetcher, size_t tensor,
                                   const PartSelection& selection, const FaultTolerance& tolerance,
                                   ThreadPool* pool, uint64_t limit = uint64_t{1} << 40);

Result<LoadedTensor> decode_tensor_into(const FragmentFetcher& fetcher, size_t tensor,
                                        std::span<std::byte> into, const PartSelection& selection,
                                        const FaultTolerance& tolerance, ThreadPool* pool,
                                        uint64_t limit = uint64_t{1} << 40);

Status decode_tensor_range(const FragmentFetcher& fetcher, size_t tensor, uint64_t offset,
                           std::span<std::byte> into, ThreadPool* pool,
                           uint64_t limit = uint64_t{1} << 40);

// Header and layout of the metadata, checked against each other.
Result<std::shared_ptr<const HoloIndex>> make_index(container::Bytes metadata,
                                                    const std::string& name);

}  // namespace hoist::tensors
