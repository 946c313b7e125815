// What a .holo file says of itself before its first shard: all tensors with descriptions and
// quality curves, the files that they came from, how everything is cut into shards, and each
// shard's checksum. It is the container's metadata, in CBOR (docs/reference/tensors.md shows it
// field by field).
//
// A stream is what is cut into shards: a part of a tensor, or the skeleton of a source file
// (tensors/model/model_source.h). Streams are numbered: the parts of tensor 0, of tensor 1, …, then
// the skeletons.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "container/format.h"
#include "tensors/encoded_tensor.h"
#include "tensors/model/model_source.h"
#include "tensors/name_index.h"

namespace hoist::tensors {

inline constexpr uint32_t kHoloKind = container::four_letters("TENS");
inline constexpr uint64_t kHoloFormat = 0;  // version of the metadata
inline constexpr uint32_t kNoFile = std::numeric_limits<uint32_t>::max();
inline constexpr size_t kMaxParts = 255;  // of a tensor
inline constexpr size_t kMaxRank = 64;

// Numbers are written into files and never change their meaning.
enum class FileOrder : uint8_t {
  layer = 0,   // all tensors' part 0, then all tensors' part 1, …: everything is usable early
  tensor = 1,  // tensor by tensor
};
enum class Packing : uint8_t {
  plain = 0,
  zstd = 1,  // tensors/file/packing.h
};

// Bits of a tensor's "order" in the metadata.
inline constexpr uint64_t kBigEndian = 1;
inline constexpr uint64_t kColumnMajor = 2;

struct StoredStream {
  uint64_t bytes = 0;  // as stored
  Packing packing = Packing::plain;
};

struct HoloTensor {
  std::string name;
  TensorDescription description;
  std::vector<StoredStream> parts;  // as many as description.part_bytes
  uint32_t file = kNoFile;          // that it came from, and where its bytes lay there
  uint64_t offset = 0;
  std::string stored_as;  // ModelTensor::stored_as
  ElementOrder order;     // in that file

  uint64_t bytes() const;  // decoded
  ElementGrid grid() const {
    return element_grid(description.dtype, description.shape, !stored_as.empty());
  }
};

// A file that was packed.
struct HoloFile {
  std::string name;
  ModelFormat format = ModelFormat::safetensors;
  uint64_t size = 0;
  uint64_t skeleton_bytes = 0;
  StoredStream skeleton;
};

// How streams are cut; every reader must come to the same cuts (tensors/file/layout.h).
struct LayoutRules {
  uint64_t min_shard = 512;
  uint64_t max_shard = (uint64_t{16} << 20) - 64;
  uint64_t bundle = uint64_t{512} << 10;  // smaller streams share groups of up to so many bytes

  friend bool operator==(const LayoutRules&, const LayoutRules&) = default;
};

struct HoloTensorHeader {
  FileOrder order = FileOrder::layer;
  uint32_t fragments = 8;  // data shards of a group, N
  uint32_t parity = 0;     // parity shards of a group, K
  LayoutRules rules;
  std::vector<HoloFile> files;
  std::vector<HoloTensor> tensors;  // of the same file by offset; add() takes them in
  NameIndex names;                  // of `tensors`
  std::vector<uint64_t> checksums;  // XXH3-64 of each shard, by its number

  // False where there is one of that name.
  bool add(HoloTensor tensor);
  // Its number; nothing where there is none.
  std::optional<size_t> find(std::string_view name) const;
  uint64_t tensor_bytes() const;  // of all tensors, decoded
};

bool is_any_subset(HolographicEncoding encoding);
// "embedded", "spectral", "rph", "lrdf", "lossless"
std::string_view name(HolographicEncoding encoding);
std::optional<HolographicEncoding> find_encoding(std::string_view name);

std::string encode_header(const HoloTensorHeader& header);
// Untrusted bytes: `corrupt` with the rule that is broken, `unsupported` where a newer version
// wrote them. Allocates a small multiple of their size.
Result<HoloTensorHeader> decode_header(std::span<const std::byte> bytes, const std::string& name);

// Whether the decoded size of a tensor is believable for what is stored of it: at most
// kMaxExpansion times as much. Keeps small hostile files from asking for any amount of memory.
inline constexpr uint64_t kMaxExpansion = 65536;
bool is_believable(uint64_t decoded, uint64_t stored);

}  // namespace hoist::tensors
