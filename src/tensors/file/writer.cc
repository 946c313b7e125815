#include "tensors/file/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/checksum.h"
#include "codec/parity.h"
#include "container/output.h"
#include "container/reader.h"
#include "container/writer.h"
#include "tensors/file/file_format.h"
#include "tensors/file/layout.h"
#include "tensors/file/packing.h"
#include "tensors/file/spool.h"

namespace hoist::tensors {
namespace {

Error invalid(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

// The runs of streams that make up each data shard.
struct ShardContent {
  size_t stream;
  StreamPiece piece;
};

std::vector<std::vector<ShardContent>> contents_of(const Layout& layout) {
  std::vector<std::vector<ShardContent>> contents(layout.shards().size());
  for (size_t stream = 0; stream < layout.streams(); ++stream) {
    for (const StreamPiece& piece : layout.pieces(stream)) {
      contents[piece.shard].push_back({stream, piece});
    }
  }
  return contents;
}

}  // namespace

struct HoloTensorWriter::State {
  State(std::string output, const HoloWriteOptions& how, Spool space)
      : path(std::move(output)), options(how), spool(std::move(space)) {}

  std::string path;
  HoloWriteOptions options;
  Spool spool;
  HoloTensorHeader header;
  std::vector<uint64_t> part_offsets;      // in the spool, by number of the stream
  std::vector<uint64_t> skeleton_offsets;  // by number of the file
  uint64_t file_size = 0;
  std::optional<Blake3Digest> root;

  Status store(std::span<const std::byte> bytes, bool packable, ThreadPool* pool,
               StoredStream& stream);
  Status add(const std::string& name, EncodedTensor tensor, ThreadPool* pool,
             const TensorOrigin& origin);
  Status finish(const std::function<void(uint64_t, uint64_t)>& progress);
};

namespace {

// One pass that computes checksums and parity, one that writes the container.
class Assembly {
 public:
  Assembly(const HoloWriteOptions& options, HoloTensorHeader& header, Spool& spool, Layout layout,
           std::vector<uint64_t> stream_offsets,
           const std::function<void(uint64_t, uint64_t)>& progress)
      : options_(options),
        header_(header),
        spool_(spool),
        layout_(std::move(layout)),
        contents_(contents_of(layout_)),
        stream_offsets_(std::move(stream_offsets)),
        progress_(progress) {
    for (const ShardPlace& shard : layout_.shards()) total_ += 2 * shard.bytes;
  }

  Status prepare();
  Result<container::Writer> write(const std::string& path);

 private:
  Status read_shard(uint64_t shard, std::span<std::byte> into) const;
  Status prepare_group(const ShardGroup& group);
  Status copy_shards(container::Writer& writer);
  std::vector<container::BlockInfo> plan(const std::string& metadata) const;
  void advance(uint64_t bytes) {
    done_ += bytes;
    if (progress_) progress_(done_, total_);
  }

  const HoloWriteOptions& options_;
  HoloTensorHeader& header_;
  Spool& spool_;
  Layout layout_;
  std::vector<std::vector<ShardContent>> contents_;
  std::vector<uint64_t> stream_offsets_;
  uint64_t parity_offset_ = 0;  // in the spool, where parity shards lie one after the other
  std::vector<std::byte> buffer_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

Status Assembly::read_shard(uint64_t shard, std::span<std::byte> into) const {
  if (options_.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
  std::fill(into.begin(), into.end(), std::byte{0});
  for (const ShardContent& content : contents_[shard]) {
    const StreamPiece& piece = content.piece;
    if (Status read = spool_.read(stream_offsets_[content.stream] + piece.stream_offset,
                                  into.subspan(piece.shard_offset, piece.bytes));
        !read) {
      return read;
    }
  }
  return {};
}

Status Assembly::prepare_group(const ShardGroup& group) {
  std::vector<std::vector<std::byte>> parity(group.parity.size(),
                                             std::vector<std::byte>(group.shard_bytes));
  std::vector<std::span<std::byte>> parity_spans(parity.begin(), parity.end());
  std::optional<codec::Parity> code;
  if (!parity.empty()) {
    Result<codec::Parity> made = codec::Parity::create(group.data.size(), parity.size());
    if (!made) return made.error();
    code = std::move(*made);
  }
  buffer_.resize(std::max<size_t>(buffer_.size(), group.shard_bytes));
  const std::span<std::byte> padded = std::span(buffer_).first(group.shard_bytes);
  for (size_t i = 0; i < group.data.size(); ++i) {
    const uint64_t shard = group.data[i];
    const uint64_t bytes = layout_.shards()[shard].bytes;
    if (Status read = read_shard(shard, padded); !read) return read;
    header_.checksums[shard] = xxh3_64(padded.data(), bytes);
    if (code) {
      if (Status added = code->accumulate(i, padded, parity_spans, &ThreadPool::process());
          !added) {
        return added;
      }
    }
    advance(bytes);
  }
  for (size_t i = 0; i < parity.size(); ++i) {
    header_.checksums[group.parity[i]] = xxh3_64(parity[i].data(), parity[i].size());
    if (Status spooled = spool_.append(parity[i]); !spooled) return spooled;
    advance(parity[i].size());
  }
  return {};
}

Status Assembly::prepare() {
  parity_offset_ = spool_.size();
  header_.checksums.assign(layout_.shards().size(), 0);
  for (const ShardGroup& group : layout_.groups()) {
    if (Status prepared = prepare_group(group); !prepared) return prepared;
  }
  return {};
}

std::vector<container::BlockInfo> Assembly::plan(const std::string& metadata) const {
  std::vector<container::BlockInfo> blocks;
  for (const ShardPlace& shard : layout_.shards()) {
    blocks.push_back(shard_block(blocks.size(), shard));
  }
  for (uint32_t copy = 0; copy < header_.parity; ++copy) {
    blocks.push_back(metadata_copy_block(blocks.size(), metadata.size()));
  }
  return blocks;
}

Status Assembly::copy_shards(container::Writer& writer) {
  uint64_t parity_offset = parity_offset_;
  for (uint64_t shard = 0; shard < layout_.shards().size(); ++shard) {
    const ShardPlace& place = layout_.shards()[shard];
    buffer_.resize(std::max<size_t>(buffer_.size(), place.bytes));
    const std::span<std::byte> bytes = std::span(buffer_).first(place.bytes);
    Status read = place.is_parity ? spool_.read(parity_offset, bytes) : read_shard(shard, bytes);
    if (!read) return read;
    if (place.is_parity) parity_offset += place.bytes;
    if (Status added = writer.add(shard_block(shard, place), bytes); !added) return added;
    advance(place.bytes);
  }
  return {};
}

Result<container::Writer> Assembly::write(const std::string& path) {
  const std::string metadata = encode_header(header_);
  container::WriterOptions how = holo_writer_options(metadata, plan(metadata));
  how.digests = options_.digests;
  how.durable = options_.durable;
  how.output = options_.output;
  Result<container::Writer> writer = container::Writer::create(path, how);
  if (!writer) return writer;
  if (Status copied = copy_shards(*writer); !copied) return copied.error();
  for (uint32_t copy = 0; copy < header_.parity; ++copy) {
    const auto block = metadata_copy_block(layout_.shards().size() + copy, metadata.size());
    if (Status added = writer->add(block, container::as_bytes(metadata)); !added) {
      return added.error();
    }
  }
  if (Status done = writer->commit(); !done) return done.error();
  return writer;
}

}  // namespace

Status HoloTensorWriter::State::store(std::span<const std::byte> bytes, bool packable,
                                      ThreadPool* pool, StoredStream& stream) {
  if (packable) {
    if (const std::optional<std::vector<std::byte>> packed = pack(bytes, pool)) {
      stream = {packed->size(), Packing::zstd};
      return spool.append(*packed);
    }
  }
  stream = {bytes.size(), Packing::plain};
  return spool.append(bytes);
}

Status HoloTensorWriter::State::add(const std::string& name, EncodedTensor encoded,
                                    ThreadPool* pool, const TensorOrigin& origin) {
  const TensorDescription& description = encoded.description;
  if (header.find(name)) return invalid(fmt::format("two tensors are called '{}'", name));
  const bool fits =
      encoded.parts.size() <= kMaxParts && description.part_bytes.size() == encoded.parts.size() &&
      description.parameters.size() <= kMaxParameterBytes && description.shape.size() <= kMaxRank &&
      encoded.parts.size() + (is_any_subset(description.encoding) ? header.parity : 0) <=
          codec::Parity::kMaxShards;
  if (!fits) {
    return invalid(
        fmt::format("tensor '{}' has more dimensions, parts or parameters than a file "
                    "holds",
                    name));
  }
  HoloTensor tensor;
  tensor.name = name;
  tensor.file = origin.file;
  tensor.offset = origin.offset;
  tensor.stored_as = origin.stored_as;
  tensor.order = origin.order;
  const bool lossless = description.encoding == HolographicEncoding::lossless;
  for (std::vector<std::byte>& part : encoded.parts) {
    part_offsets.push_back(spool.size());
    if (Status stored = store(part, lossless, pool, tensor.parts.emplace_back()); !stored) {
      return stored;
    }
    part = {};
  }
  tensor.description = std::move(encoded.description);
  header.add(std::move(tensor));
  return {};
}

Status HoloTensorWriter::State::finish(const std::function<void(uint64_t, uint64_t)>& progress) {
  if (Status here = spool.check_process(); !here) return here;
  Result<Layout> layout = Layout::of(header);
  if (!layout) return layout.error();
  std::vector<uint64_t> offsets = part_offsets;
  offsets.insert(offsets.end(), skeleton_offsets.begin(), skeleton_offsets.end());
  Assembly assembly(options, header, spool, std::move(*layout), std::move(offsets), progress);
  if (Status prepared = assembly.prepare(); !prepared) return prepared;
  const Result<container::Writer> written = assembly.write(path);
  if (!written) return written.error();
  file_size = written->size();
  root = written->root();
  return {};
}

HoloTensorWriter::HoloTensorWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
HoloTensorWriter::HoloTensorWriter(HoloTensorWriter&&) noexcept = default;
HoloTensorWriter& HoloTensorWriter::operator=(HoloTensorWriter&&) noexcept = default;
HoloTensorWriter::~HoloTensorWriter() = default;

Result<HoloTensorWriter> HoloTensorWriter::create(const std::string& path,
                                                  const HoloWriteOptions& options) {
  const uint32_t fragments = options.encode.fragments;
  if (fragments == 0 || fragments > codec::Parity::kMaxShards ||
      options.parity > codec::Parity::kMaxShards - fragments) {
    return invalid(fmt::format("{} fragments and {} of parity: at least 1, and 255 in all",
                               fragments, options.parity));
  }
  // Before an hour of encoding.
  if (Status allowed = container::Output::check(path, options.output); !allowed) {
    return allowed.error();
  }
  Result<Spool> spool = Spool::create(path);
  if (!spool) return spool.error();
  auto state = std::make_unique<State>(path, options, std::move(*spool));
  state->header.order = options.order;
  state->header.fragments = fragments;
  state->header.parity = options.parity;
  constexpr uint64_t kBundleShard = uint64_t{64} << 10;
  state->header.rules.bundle = fragments * kBundleShard;
  // Without parity nothing is gained by small shards, and each has a block header.
  if (options.parity == 0) state->header.rules.min_shard = kBundleShard;
  return HoloTensorWriter(std::move(state));
}

Result<uint32_t> HoloTensorWriter::add_file(const std::string& name, ModelFormat format,
                                            uint64_t size, std::span<const std::byte> skeleton) {
  State& state = *state_;
  HoloFile file{name, format, size, skeleton.size(), {}};
  state.skeleton_offsets.push_back(state.spool.size());
  if (Status stored = state.store(skeleton, true, nullptr, file.skeleton); !stored) {
    return stored.error();
  }
  state.header.files.push_back(std::move(file));
  return static_cast<uint32_t>(state.header.files.size() - 1);
}

Status HoloTensorWriter::add(const std::string& name, const TensorView& tensor, ThreadPool* pool,
                             const TensorOrigin& origin) {
  if (Status here = state_->spool.check_process(); !here) return here;
  try {
    EncodeOptions how = state_->options.encode;
    // What is stored under another type's name has no numbers to be refined.
    if (!origin.stored_as.empty()) how.encoding = HolographicEncoding::lossless;
    Result<EncodedTensor> encoded = encode(tensor, how, pool);
    uint64_t stored = 0;
    if (encoded) {
      for (const auto& part : encoded->parts) stored += part.size();
      if (!is_believable(tensor.bytes.size(), stored)) {
        how.encoding = HolographicEncoding::lossless;
        encoded = encode(tensor, how, pool);
      }
    }
    if (!encoded) {
      return fail(encoded.error().code,
                  fmt::format("tensor '{}': {}", name, encoded.error().message));
    }
    return state_->add(name, std::move(*encoded), pool, origin);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory to encode tensor '{}'", name));
  }
}

Status HoloTensorWriter::add(const std::string& name, EncodedTensor tensor, ThreadPool* pool,
                             const TensorOrigin& origin) {
  return state_->add(name, std::move(tensor), pool, origin);
}

Status HoloTensorWriter::finish(const std::function<void(uint64_t, uint64_t)>& progress) {
  try {
    return state_->finish(progress);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory to write {}", state_->path));
  }
}

const HoloTensorHeader& HoloTensorWriter::header() const { return state_->header; }
uint64_t HoloTensorWriter::file_size() const { return state_->file_size; }
std::optional<Blake3Digest> HoloTensorWriter::root() const { return state_->root; }

}  // namespace hoist::tensors
