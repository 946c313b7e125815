#include "tensors/model/zip_archive.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "tensors/model/model_source.h"

namespace hoist::tensors {
namespace {

constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr uint32_t kEntryMagic = 0x02014b50;
constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kEnd64Size = 56;
constexpr size_t kLocalSize = 30;
constexpr size_t kMaxComment = 0xffff;
constexpr uint32_t kIn64 = 0xffffffff;

Error corrupt(const container::Source& source, std::string_view what) {
  return fail(ErrorCode::corrupt,
              fmt::format("not a valid ZIP archive: {} ({})", what, source.name()));
}

Result<std::string> read_text(const container::Source& source, uint64_t offset, uint64_t size) {
  if (size > kMaxHeaderBytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("a directory of more than 256 MiB ({})", source.name()));
  }
  if (offset > source.size() || size > source.size() - offset) {
    return corrupt(source, "a part of it is cut off");
  }
  std::string text(size, '\0');
  if (Status read = source.read(offset, std::as_writable_bytes(std::span(text))); !read) {
    return read.error();
  }
  return text;
}

struct Place {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

// Sizes that do not fit 32 bits are in a second record, to which a locator before the end points.
Status read_end64(const container::Source& source, uint64_t end, Place& directory) {
  if (end < kLocator64Size) return {};
  const Result<std::string> locator = read_text(source, end - kLocator64Size, kLocator64Size);
  if (!locator) return locator.error();
  ByteReader in(locator->data(), locator->size());
  if (in.read<uint32_t>() != kLocator64Magic) return {};
  in.take(4);
  const Result<std::string> record = read_text(source, in.read<uint64_t>(), kEnd64Size);
  if (!record) return record.error();
  ByteReader fields(record->data(), record->size());
  if (fields.read<uint32_t>() != kEnd64Magic) return corrupt(source, "no ZIP64 record");
  fields.take(28);
  directory.entries = fields.read<uint64_t>();
  directory.size = fields.read<uint64_t>();
  directory.offset = fields.read<uint64_t>();
  return {};
}

Result<Place> find_directory(const container::Source& source) {
  const uint64_t tail_size = std::min<uint64_t>(source.size(), kEndSize + kMaxComment);
  const uint64_t tail_begin = source.size() - tail_size;
  const Result<std::string> tail = read_text(source, tail_begin, tail_size);
  if (!tail) return tail.error();
  const size_t at = tail->rfind("PK\x05\x06");
  if (at == std::string::npos || tail->size() - at < kEndSize) {
    return corrupt(source, "the directory at its end is missing");
  }
  ByteReader in(tail->data() + at, kEndSize);
  if (in.read<uint32_t>() != kEndMagic) return corrupt(source, "no end record");
  in.take(6);
  Place directory;
  directory.entries = in.read<uint16_t>();
  directory.size = in.read<uint32_t>();
  directory.offset = in.read<uint32_t>();
  if (Status large = read_end64(source, tail_begin + at, directory); !large) {
    return large.error();
  }
  return directory;
}

// The fields of ZIP64 that stand for those that are all ones, in their order.
bool read_extra64(std::span<const std::byte> extra, ZipEntry& entry) {
  ByteReader in(extra);
  while (in.remaining() >= 4) {
    const auto tag = in.read<uint16_t>();
    ByteReader field(in.take(in.read<uint16_t>()));
    if (tag != 1) continue;
    for (uint64_t* value : {&entry.size, &entry.stored, &entry.offset}) {
      if (*value == kIn64) *value = field.read<uint64_t>();
    }
    return field.ok() && in.ok();
  }
  return in.ok();
}

bool read_entry(ByteReader& in, ZipEntry& entry) {
  if (in.read<uint32_t>() != kEntryMagic) return false;
  entry.made_by = in.read<uint16_t>();
  in.take(2);  // version needed
  entry.flags = in.read<uint16_t>();
  entry.method = in.read<uint16_t>();
  entry.time = in.read<uint32_t>();
  entry.crc = in.read<uint32_t>();
  entry.stored = in.read<uint32_t>();
  entry.size = in.read<uint32_t>();
  const auto name_size = in.read<uint16_t>();
  const auto extra_size = in.read<uint16_t>();
  const auto comment_size = in.read<uint16_t>();
  in.take(2);  // disk
  entry.internal_attributes = in.read<uint16_t>();
  entry.external_attributes = in.read<uint32_t>();
  entry.offset = in.read<uint32_t>();
  const auto name = in.take(name_size);
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  const auto extra = in.take(extra_size);
  in.take(comment_size);
  return in.ok() && read_extra64(extra, entry);
}

}  // namespace

Result<ZipDirectory> read_zip_directory(const container::Source& source) {
  const Result<Place> place = find_directory(source);
  if (!place) return place.error();
  const Result<std::string> text = read_text(source, place->offset, place->size);
  if (!text) return text.error();
  ByteReader in(text->data(), text->size());
  ZipDirectory directory;
  directory.begin = place->offset;
  for (uint64_t i = 0; i < place->entries; ++i) {
    ZipEntry entry;
    if (!read_entry(in, entry)) return corrupt(source, "the directory is damaged");
    directory.entries.push_back(std::move(entry));
  }
  return directory;
}

Result<uint64_t> zip_data_offset(const container::Source& source, const ZipEntry& entry) {
  const Result<std::string> local = read_text(source, entry.offset, kLocalSize);
  if (!local) return local.error();
  ByteReader in(local->data(), local->size());
  if (in.read<uint32_t>() != kLocalMagic) return corrupt(source, "an entry is not where it should");
  in.take(22);
  const auto name_size = in.read<uint16_t>();
  const auto extra_size = in.read<uint16_t>();
  const uint64_t begin = entry.offset + kLocalSize + name_size + extra_size;
  if (begin > source.size() || entry.stored > source.size() - begin) {
    return corrupt(source, "an entry is cut off");
  }
  return begin;
}

}  // namespace hoist::tensors
