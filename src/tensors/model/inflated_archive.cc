#include "tensors/model/inflated_archive.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <mutex>

#include "base/bytes.h"
#include "container/reader.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr uint64_t kIn64 = 0xffffffff;
constexpr uint16_t kNeeds64 = 45;        // version of ZIP
constexpr uint16_t kDescriptorFlag = 8;  // sizes follow the content: here they never do

// A piece of the archive as it appears: bytes made here, bytes of the compressed file, or content
// to decompress.
struct Piece {
  uint64_t begin = 0;
  uint64_t size = 0;
  std::string made = {};
  const ZipEntry* inflated = nullptr;
  uint64_t offset = 0;  // in the compressed file, where it has `stored` bytes
  uint64_t stored = 0;
};

// What local header and directory say alike of an entry, from its version on.
void write_common(const ZipEntry& entry, bool in64, ByteWriter& out) {
  out.write(kNeeds64);
  out.write(static_cast<uint16_t>(entry.flags & ~kDescriptorFlag));
  out.write(entry.method);
  out.write(entry.time);
  out.write(entry.crc);
  out.write(static_cast<uint32_t>(in64 ? kIn64 : entry.stored));
  out.write(static_cast<uint32_t>(in64 ? kIn64 : entry.size));
  out.write(static_cast<uint16_t>(entry.name.size()));
}

// With 64-bit sizes always, as NumPy writes them.
std::string local_header(const ZipEntry& entry) {
  ByteWriter out;
  out.append("PK\x03\x04", 4);
  write_common(entry, true, out);
  out.write<uint16_t>(20);
  out.append(entry.name.data(), entry.name.size());
  out.write<uint16_t>(1);
  out.write<uint16_t>(16);
  out.write(entry.size);
  out.write(entry.stored);
  return out.bytes();
}

void write_directory_entry(const ZipEntry& entry, ByteWriter& out) {
  const bool in64 = entry.size >= kIn64 || entry.stored >= kIn64 || entry.offset >= kIn64;
  out.append("PK\x01\x02", 4);
  out.write(entry.made_by);
  write_common(entry, in64, out);
  out.write<uint16_t>(in64 ? 28 : 0);
  out.write<uint16_t>(0);  // comment
  out.write<uint16_t>(0);  // disk
  out.write(entry.internal_attributes);
  out.write(entry.external_attributes);
  out.write(static_cast<uint32_t>(in64 ? kIn64 : entry.offset));
  out.append(entry.name.data(), entry.name.size());
  if (!in64) return;
  out.write<uint16_t>(1);
  out.write<uint16_t>(24);
  out.write(entry.size);
  out.write(entry.stored);
  out.write(entry.offset);
}

void write_end(uint64_t entries, uint64_t begin, ByteWriter& out) {
  const uint64_t size = out.bytes().size();
  const bool in64 = entries >= 0xffff || begin >= kIn64 || size >= kIn64;
  if (in64) {
    out.append("PK\x06\x06", 4);
    out.write<uint64_t>(44);
    out.write(kNeeds64);
    out.write(kNeeds64);
    out.write<uint64_t>(0);  // disks
    out.write(entries);
    out.write(entries);
    out.write(size);
    out.write(begin);
    out.append("PK\x06\x07\0\0\0\0", 8);
    out.write(begin + size);
    out.write<uint32_t>(1);  // disks in all
  }
  out.append("PK\x05\x06\0\0\0\0", 8);
  out.write(static_cast<uint16_t>(in64 ? 0xffff : entries));
  out.write(static_cast<uint16_t>(in64 ? 0xffff : entries));
  out.write(static_cast<uint32_t>(in64 ? kIn64 : size));
  out.write(static_cast<uint32_t>(in64 ? kIn64 : begin));
  out.write<uint16_t>(0);  // comment
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
};

class InflatedArchive final : public container::Source {
 public:
  explicit InflatedArchive(const container::Source& compressed) : compressed_(compressed) {}

  Status add(const ZipEntry& entry);
  void finish();

  uint64_t size() const override { return size_; }
  const std::string& name() const override { return compressed_.name(); }
  using Source::read;
  Status read(uint64_t offset, std::span<const container::MutableBytes> parts) const override;

 private:
  void append(Piece piece) {
    piece.begin = size_;
    size_ += piece.size;
    pieces_.push_back(std::move(piece));
  }
  void append_made(std::string bytes) {
    const uint64_t size = bytes.size();
    append({.size = size, .made = std::move(bytes)});
  }
  Status fill(uint64_t offset, container::MutableBytes into) const;
  Status copy(const Piece& piece, uint64_t from, container::MutableBytes into) const;
  Result<container::BlockBytes> inflate(const Piece& piece) const;
  tl::unexpected<Error> damaged(const ZipEntry& entry) const;

  const container::Source& compressed_;
  std::vector<std::unique_ptr<ZipEntry>> entries_;  // as they appear
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;

  mutable std::mutex mutex_;
  mutable const Piece* held_ = nullptr;
  mutable container::BlockBytes bytes_;
};

Status InflatedArchive::add(const ZipEntry& entry) {
  const Result<uint64_t> offset = zip_data_offset(compressed_, entry);
  if (!offset) return tl::unexpected(offset.error());
  ZipEntry& shown = *entries_.emplace_back(std::make_unique<ZipEntry>(entry));
  shown.offset = size_;
  Piece content{.offset = *offset, .stored = entry.stored};
  if (is_inflatable(entry)) {
    shown.method = kZipStored;
    shown.stored = shown.size;
    content.inflated = &shown;
  }
  content.size = shown.stored;
  append_made(local_header(shown));
  append(std::move(content));
  return {};
}

void InflatedArchive::finish() {
  ByteWriter directory;
  for (const auto& entry : entries_) write_directory_entry(*entry, directory);
  write_end(entries_.size(), size_, directory);
  append_made(directory.bytes());
}

Status InflatedArchive::read(uint64_t offset,
                             std::span<const container::MutableBytes> parts) const {
  for (const container::MutableBytes part : parts) {
    if (Status filled = fill(offset, part); !filled) return filled;
    offset += part.size();
  }
  return {};
}

Status InflatedArchive::fill(uint64_t offset, container::MutableBytes into) const {
  if (offset > size_ || into.size() > size_ - offset) {
    return fail(ErrorCode::corrupt, fmt::format("read {} bytes from {} on of {} ({})", into.size(),
                                                offset, size_, name()));
  }
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](uint64_t at, const Piece& it) { return at < it.begin; });
  if (piece != pieces_.begin()) --piece;
  for (; !into.empty(); ++piece) {
    const uint64_t from = offset - piece->begin;
    const uint64_t size = std::min<uint64_t>(into.size(), piece->size - from);
    if (Status copied = copy(*piece, from, into.first(size)); !copied) return copied;
    into = into.subspan(size);
    offset += size;
  }
  return {};
}

Status InflatedArchive::copy(const Piece& piece, uint64_t from,
                             container::MutableBytes into) const {
  if (into.empty()) return {};
  if (!piece.made.empty()) {
    std::copy_n(container::as_bytes(piece.made).data() + from, into.size(), into.data());
    return {};
  }
  if (piece.inflated == nullptr) return compressed_.read(piece.offset + from, into);
  const std::lock_guard lock(mutex_);
  if (held_ != &piece) {
    held_ = nullptr;
    bytes_ = {};
    Result<container::BlockBytes> bytes = inflate(piece);
    if (!bytes) return tl::unexpected(bytes.error());
    bytes_ = std::move(*bytes);
    held_ = &piece;
  }
  std::copy_n(bytes_.data() + from, into.size(), into.data());
  return {};
}

tl::unexpected<Error> InflatedArchive::damaged(const ZipEntry& entry) const {
  return fail(ErrorCode::corrupt,
              fmt::format("'{}' does not decompress to what the archive says of it ({}): get the "
                          "file again",
                          entry.name, name()));
}

Result<container::BlockBytes> InflatedArchive::inflate(const Piece& piece) const {
  const ZipEntry& entry = *piece.inflated;
  container::BlockBytes stored = container::BlockBytes::allocate(piece.stored);
  container::BlockBytes bytes = container::BlockBytes::allocate(piece.size);
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (stored.size() != piece.stored || bytes.size() != piece.size || decompressor == nullptr) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for the {} bytes of '{}' ({})",
                                                  piece.size, entry.name, name()));
  }
  if (Status read = compressed_.read(piece.offset, stored); !read) {
    return tl::unexpected(read.error());
  }
  size_t used = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      decompressor.get(), stored.data(), stored.size(), bytes.data(), bytes.size(), &used, nullptr);
  if (result != LIBDEFLATE_SUCCESS || used != stored.size()) return damaged(entry);
  if (libdeflate_crc32(0, bytes.data(), bytes.size()) != entry.crc) return damaged(entry);
  return bytes;
}

}  // namespace

bool is_inflatable(const ZipEntry& entry) {
  return entry.method == kZipDeflated && !entry.is_encrypted() &&
         entry.size / kMaxDeflateRatio <= entry.stored;
}

Result<std::unique_ptr<container::Source>> inflated_archive(const container::Source& compressed,
                                                            const ZipDirectory& directory) {
  auto archive = std::make_unique<InflatedArchive>(compressed);
  std::vector<const ZipEntry*> in_file;
  for (const ZipEntry& entry : directory.entries) in_file.push_back(&entry);
  std::stable_sort(in_file.begin(), in_file.end(),
                   [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (const ZipEntry* const entry : in_file) {
    if (Status added = archive->add(*entry); !added) return tl::unexpected(added.error());
  }
  archive->finish();
  return archive;
}

}  // namespace hoist::tensors
