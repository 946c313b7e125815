#include "tensors/file/reader.h"

#include <fmt/core.h>

#include "tensors/file/file_format.h"
#include "tensors/file/foreign_format.h"
#include "tensors/file/metadata_copy.h"
#include "tensors/file/packing.h"

namespace hoist::tensors {
namespace {

Status check_kind(const container::Reader& reader) {
  if (reader.header().kind == kHoloKind) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("a Hoist container, but not of tensors ({}): `hoist container info` says "
                          "what it holds",
                          reader.source().name()));
}

// What the container says, and what may help a tensor file.
Error damaged(const Error& error) {
  const bool may_be_repaired = error.message.find("container repair") != error.message.npos;
  if (error.code != ErrorCode::corrupt || !may_be_repaired) return error;
  return fail(error.code, error.message + "; of a .holo file: `hoist tensors repair`");
}

}  // namespace

Result<std::shared_ptr<const HoloIndex>> make_index(container::Bytes metadata,
                                                    const std::string& name) {
  Result<HoloTensorHeader> header = decode_header(metadata, name);
  if (!header) return header.error();
  Result<Layout> layout = Layout::of(*header, header->checksums.size());
  if (!layout) {
    return fail(layout.error().code, fmt::format("{} ({})", layout.error().message, name));
  }
  if (header->checksums.size() != layout->shards().size()) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} checksums for {} shards ({})", header->checksums.size(),
                            layout->shards().size(), name));
  }
  return std::make_shared<const HoloIndex>(HoloIndex{std::move(*header), std::move(*layout)});
}

Result<HoloTensorReader> HoloTensorReader::open(const std::string& path,
                                                const ReadOptions& options) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  return open(std::move(*source), options);
}

Result<HoloTensorReader> HoloTensorReader::open(std::unique_ptr<container::Source> source,
                                                const ReadOptions& options) {
  if (Status ours = refuse_foreign(*source); !ours) return ours.error();
  const container::ReaderOptions how{holo_limits(source->size()), options.root};
  const std::shared_ptr<const container::Source> shared = std::move(source);
  Result<container::Reader> opened = container::Reader::open(share(shared), how);
  bool was_damaged = false;
  if (!opened && opened.error().code == ErrorCode::corrupt) {
    auto mended = with_metadata_copy(shared);
    if (mended) opened = container::Reader::open(std::move(*mended), how);
    was_damaged = true;
  }
  if (!opened) return damaged(opened.error());
  if (Status kind = check_kind(*opened); !kind) return kind.error();
  HoloTensorReader reader;
  reader.options_ = options;
  reader.metadata_was_damaged_ = was_damaged;
  reader.container_ = std::make_shared<const container::Reader>(std::move(*opened));
  auto index = make_index(reader.container_->metadata(), reader.name());
  if (!index) return index.error();
  reader.index_ = std::move(*index);
  reader.add_source(std::make_shared<FileFragmentSource>(reader.container_, options.priority));
  return reader;
}

void HoloTensorReader::add_source(std::shared_ptr<FragmentSource> source) {
  sources_.push_back(std::move(source));
  fetcher_ = std::make_shared<const FragmentFetcher>(index_, sources_, options_.fetch);
}

FragmentIndexEntry HoloTensorReader::fragment_entry(uint64_t number) const {
  const ShardPlace& shard = layout().shards()[number];
  const container::Block* const block = container_->find(number);
  return {number,      block == nullptr ? 0 : block->payload_offset(),
          shard.bytes, header().checksums[number],
          shard.group, shard.is_parity};
}

std::vector<FragmentIndexEntry> HoloTensorReader::fragment_index() const {
  std::vector<FragmentIndexEntry> entries;
  for (uint64_t number = 0; number < layout().shards().size(); ++number) {
    entries.push_back(fragment_entry(number));
  }
  return entries;
}

Result<HoloFragment> HoloTensorReader::read_fragment(uint64_t shard) const {
  const size_t count = layout().shards().size();
  if (shard >= count) {
    return fail(ErrorCode::not_found,
                fmt::format("no shard {}, there are {} ({})", shard, count, name()));
  }
  HoloFragment fragment{fragment_entry(shard),
                        std::vector<std::byte>(layout().shards()[shard].bytes)};
  if (Status got = fetcher_->fetch(shard, fragment.bytes); !got) {
    return got.error();
  }
  return fragment;
}

Status HoloTensorReader::check_number(size_t tensor) const {
  if (tensor < header().tensors.size()) return {};
  return fail(ErrorCode::not_found, fmt::format("no tensor {}, there are {} ({})", tensor,
                                                header().tensors.size(), name()));
}

Result<LoadedTensor> HoloTensorReader::decode_into(size_t tensor, std::span<std::byte> into,
                                                   const PartSelection& selection,
                                                   const FaultTolerance& tolerance,
                                                   ThreadPool* pool) const {
  if (Status there = check_number(tensor); !there) return there.error();
  return decode_tensor_into(*fetcher_, tensor, into, selection, tolerance, pool, options_.tensor);
}

Status HoloTensorReader::decode_range(size_t tensor, uint64_t offset, std::span<std::byte> into,
                                      ThreadPool* pool) const {
  if (Status there = check_number(tensor); !there) return there;
  return decode_tensor_range(*fetcher_, tensor, offset, into, pool, options_.tensor);
}

Result<LoadedTensor> HoloTensorReader::decode(size_t tensor, const PartSelection& selection,
                                              const FaultTolerance& tolerance,
                                              ThreadPool* pool) const {
  if (Status there = check_number(tensor); !there) return there.error();
  return decode_tensor(*fetcher_, tensor, selection, tolerance, pool, options_.tensor);
}

Result<LoadedTensor> HoloTensorReader::decode(std::string_view tensor,
                                              const PartSelection& selection,
                                              const FaultTolerance& tolerance,
                                              ThreadPool* pool) const {
  const std::optional<size_t> number = header().find(tensor);
  if (!number) {
    return fail(
        ErrorCode::not_found,
        fmt::format("no tensor '{}' ({}): `hoist tensors info` lists them", tensor, name()));
  }
  return decode(*number, selection, tolerance, pool);
}

Result<std::vector<std::byte>> HoloTensorReader::skeleton(size_t file) const {
  const HoloFile& described = header().files[file];
  std::vector<std::byte> stored(described.skeleton.bytes);
  if (Status got = fetcher_->read_stream(layout().skeleton_stream(file), stored); !got) {
    return got.error();
  }
  if (described.skeleton.packing == Packing::plain) return stored;
  std::vector<std::byte> raw(described.skeleton_bytes);
  if (Status unpacked = unpack(stored, raw); !unpacked) return unpacked.error();
  return raw;
}

}  // namespace hoist::tensors
