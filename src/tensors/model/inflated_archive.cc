#include "tensors/model/inflated_archive.h"

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include <algorithm>
#include <mutex>

#include "base/bytes.h"
#include "container/reader.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr size_t kHead = 4096;    // of a content: most .npy headers have 128 bytes
constexpr size_t kInput = 16384;  // read at once for it
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

class InflatedFile final : public container::Source {
 public:
  explicit InflatedFile(const container::Source& compressed) : compressed_(compressed) {}

  // Entries by offset; `end` is where the next one begins.
  Status add(const ZipEntry& entry, uint64_t end);
  // The directory, behind all entries.
  ZipDirectory finish();

  uint64_t size() const override { return size_; }
  const std::string& name() const override { return compressed_.name(); }
  using Source::read;
  Status read(uint64_t offset, std::span<const container::MutableBytes> parts) const override;

  // Fills `into` from `offset` on, compressed content by `inflated(piece, from, into)`.
  template <typename Inflated>
  Status fill(uint64_t offset, container::MutableBytes into, Inflated&& inflated) const;
  // The first bytes of a content, unchecked.
  Status inflate_head(const Piece& piece, container::MutableBytes into) const;

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
  Status copy_checked(const Piece& piece, uint64_t from, container::MutableBytes into) const;
  Result<container::BlockBytes> inflate(const Piece& piece) const;
  Error damaged(const ZipEntry& entry) const;

  const container::Source& compressed_;
  std::vector<std::unique_ptr<ZipEntry>> entries_;  // as they appear
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;

  mutable std::mutex mutex_;
  mutable const Piece* held_ = nullptr;
  mutable container::BlockBytes bytes_;
};

Status InflatedFile::add(const ZipEntry& entry, uint64_t end) {
  const Result<uint64_t> offset = zip_data_offset(compressed_, entry);
  if (!offset) return offset.error();
  if (*offset > end || entry.stored > end - *offset) {
    return fail(ErrorCode::corrupt,
                fmt::format("'{}' overlaps what follows it in the archive ({}): get the file again",
                            entry.name, name()));
  }
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

ZipDirectory InflatedFile::finish() {
  ZipDirectory directory;
  directory.begin = size_;
  ByteWriter text;
  for (const auto& entry : entries_) {
    write_directory_entry(*entry, text);
    directory.entries.push_back(*entry);
  }
  write_end(entries_.size(), size_, text);
  append_made(text.bytes());
  return directory;
}

Status InflatedFile::read(uint64_t offset, std::span<const container::MutableBytes> parts) const {
  const auto inflated = [&](const Piece& piece, uint64_t from, container::MutableBytes into) {
    return copy_checked(piece, from, into);
  };
  for (const container::MutableBytes part : parts) {
    if (Status filled = fill(offset, part, inflated); !filled) return filled;
    offset += part.size();
  }
  return {};
}

template <typename Inflated>
Status InflatedFile::fill(uint64_t offset, container::MutableBytes into,
                          Inflated&& inflated) const {
  if (offset > size_ || into.size() > size_ - offset) {
    return fail(ErrorCode::corrupt, fmt::format("read {} bytes from {} on of {} ({})", into.size(),
                                                offset, size_, name()));
  }
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](uint64_t at, const Piece& it) { return at < it.begin; });
  if (piece != pieces_.begin()) --piece;
  for (; !into.empty(); ++piece) {
    const uint64_t from = offset - piece->begin;
    const auto part = into.first(std::min<uint64_t>(into.size(), piece->size - from));
    into = into.subspan(part.size());
    offset += part.size();
    if (part.empty()) continue;
    if (!piece->made.empty()) {
      std::copy_n(container::as_bytes(piece->made).data() + from, part.size(), part.data());
      continue;
    }
    const Status copied = piece->inflated == nullptr ? compressed_.read(piece->offset + from, part)
                                                     : inflated(*piece, from, part);
    if (!copied) return copied;
  }
  return {};
}

Status InflatedFile::copy_checked(const Piece& piece, uint64_t from,
                                  container::MutableBytes into) const {
  const std::lock_guard lock(mutex_);
  if (held_ != &piece) {
    held_ = nullptr;
    bytes_ = {};
    Result<container::BlockBytes> bytes = inflate(piece);
    if (!bytes) return bytes.error();
    bytes_ = std::move(*bytes);
    held_ = &piece;
  }
  std::copy_n(bytes_.data() + from, into.size(), into.data());
  return {};
}

Error InflatedFile::damaged(const ZipEntry& entry) const {
  return fail(ErrorCode::corrupt,
              fmt::format("'{}' does not decompress to what the archive says of it ({}): get the "
                          "file again",
                          entry.name, name()));
}

Result<container::BlockBytes> InflatedFile::inflate(const Piece& piece) const {
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
    return read.error();
  }
  size_t used = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      decompressor.get(), stored.data(), stored.size(), bytes.data(), bytes.size(), &used, nullptr);
  if (result != LIBDEFLATE_SUCCESS || used != stored.size()) return damaged(entry);
  if (libdeflate_crc32(0, bytes.data(), bytes.size()) != entry.crc) return damaged(entry);
  return bytes;
}

Status InflatedFile::inflate_head(const Piece& piece, container::MutableBytes into) const {
  const auto state = std::make_unique_for_overwrite<inflate_state>();
  ::isal_inflate_init(state.get());
  state->next_out = reinterpret_cast<uint8_t*>(into.data());
  state->avail_out = static_cast<uint32_t>(into.size());
  std::vector<std::byte> input(std::min<uint64_t>(kInput, piece.stored));
  uint64_t taken = 0;
  while (state->avail_out > 0) {
    const auto next = std::span(input).first(std::min<uint64_t>(kInput, piece.stored - taken));
    if (next.empty()) return damaged(*piece.inflated);
    if (Status read = compressed_.read(piece.offset + taken, next); !read) return read;
    taken += next.size();
    state->next_in = reinterpret_cast<uint8_t*>(next.data());
    state->avail_in = static_cast<uint32_t>(next.size());
    const bool is_sound = ::isal_inflate(state.get()) >= ISAL_DECOMP_OK;
    const bool has_ended = state->block_state == ISAL_BLOCK_FINISH && state->avail_out > 0;
    if (!is_sound || has_ended) return damaged(*piece.inflated);
  }
  return {};
}

// Keeps the head of the content that was read last.
class Heads final : public container::Source {
 public:
  explicit Heads(const InflatedFile& file) : file_(file) {}

  uint64_t size() const override { return file_.size(); }
  const std::string& name() const override { return file_.name(); }
  using Source::read;
  Status read(uint64_t offset, std::span<const container::MutableBytes> parts) const override {
    const std::lock_guard lock(mutex_);
    const auto inflated = [&](const Piece& piece, uint64_t from, container::MutableBytes into) {
      return copy(piece, from, into);
    };
    for (const container::MutableBytes part : parts) {
      if (Status filled = file_.fill(offset, part, inflated); !filled) return filled;
      offset += part.size();
    }
    return {};
  }

 private:
  Status copy(const Piece& piece, uint64_t from, container::MutableBytes into) const {
    const uint64_t end = from + into.size();
    if (held_ != &piece || end > head_.size()) {
      held_ = nullptr;
      head_.resize(std::max<uint64_t>(end, std::min<uint64_t>(kHead, piece.size)));
      if (Status done = file_.inflate_head(piece, head_); !done) return done;
      held_ = &piece;
    }
    std::copy_n(head_.data() + from, into.size(), into.data());
    return {};
  }

  const InflatedFile& file_;
  mutable std::mutex mutex_;
  mutable const Piece* held_ = nullptr;
  mutable std::vector<std::byte> head_;
};

}  // namespace

bool is_inflatable(const ZipEntry& entry) {
  return entry.method == kZipDeflated && !entry.is_encrypted() &&
         entry.size / kMaxDeflateRatio <= entry.stored;
}

Result<InflatedArchive> inflated_archive(const container::Source& compressed,
                                         const ZipDirectory& directory) {
  auto file = std::make_unique<InflatedFile>(compressed);
  std::vector<const ZipEntry*> in_file;
  for (const ZipEntry& entry : directory.entries) in_file.push_back(&entry);
  std::stable_sort(in_file.begin(), in_file.end(),
                   [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 0; i < in_file.size(); ++i) {
    const uint64_t end = i + 1 < in_file.size() ? in_file[i + 1]->offset : directory.begin;
    if (Status added = file->add(*in_file[i], end); !added) return added.error();
  }
  InflatedArchive archive;
  archive.directory = file->finish();
  archive.heads = std::make_unique<Heads>(*file);
  archive.file = std::move(file);
  return archive;
}

}  // namespace hoist::tensors
