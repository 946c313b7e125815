#include "cli/records/npz_writer.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/utf8.h"
#include "codec/crc32.h"

namespace hoist::cli {
namespace {

constexpr uint16_t kZip64Version = 45;
constexpr uint32_t kInExtraField = 0xffffffff;
// 1980-01-01, the first day that ZIP has: files are the same whenever they are written.
constexpr uint32_t kNoTime = 0x00210000;

std::string npy_header(std::string_view dtype, uint64_t count) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", dtype, count);
  constexpr size_t kFixed = 10;  // magic, version, size
  text.append((64 - (kFixed + text.size() + 1) % 64) % 64, ' ');
  text.push_back('\n');
  ByteWriter out;
  out.append("\x93NUMPY\x01\x00", 8);
  out.write(static_cast<uint16_t>(text.size()));
  return out.bytes() + text;
}

}  // namespace

void NpzWriter::write(const void* data, size_t size) {
  if (!status_) return;
  status_ = pwrite_full(fd_, data, size, offset_, name_);
  offset_ += size;
}

void NpzWriter::common_fields(const Entry& entry, ByteWriter& out) {
  out.write(kZip64Version);
  // Names are UTF-8, else bytes: a reader refuses others that are said to be UTF-8.
  out.write(is_utf8(entry.name) ? uint16_t{0x0800} : uint16_t{0});
  out.write(uint16_t{0});  // stored
  out.write(kNoTime);
  out.write(entry.crc);
  out.write(kInExtraField);
  out.write(kInExtraField);
  out.write(static_cast<uint16_t>(entry.name.size()));
}

std::string NpzWriter::local_header(const Entry& entry) {
  ByteWriter out;
  out.append("PK\x03\x04", 4);
  common_fields(entry, out);
  out.write(uint16_t{20});  // of the extra field
  out.append(entry.name.data(), entry.name.size());
  out.write(uint16_t{1});  // ZIP64
  out.write(uint16_t{16});
  out.write(entry.size);
  out.write(entry.size);
  return out.bytes();
}

std::string NpzWriter::directory_entry(const Entry& entry) {
  ByteWriter out;
  out.append("PK\x01\x02", 4);
  out.write(kZip64Version);
  common_fields(entry, out);
  out.write(uint16_t{28});  // of the extra field
  out.write(uint16_t{0});   // comment
  out.write(uint16_t{0});   // disk
  out.write(uint16_t{0});
  out.write(uint32_t{0});  // attributes
  out.write(kInExtraField);
  out.append(entry.name.data(), entry.name.size());
  out.write(uint16_t{1});
  out.write(uint16_t{24});
  out.write(entry.size);
  out.write(entry.size);
  out.write(entry.offset);
  return out.bytes();
}

void NpzWriter::begin(std::string_view name, std::string_view dtype, uint64_t count) {
  entries_.push_back({.name = std::string(name) + ".npy", .offset = offset_});
  const std::string header = local_header(entries_.back());
  write(header.data(), header.size());
  const std::string npy = npy_header(dtype, count);
  append(std::as_bytes(std::span(npy)));
}

void NpzWriter::append(std::span<const std::byte> bytes) {
  Entry& entry = entries_.back();
  entry.crc = codec::crc32(entry.crc, bytes.data(), bytes.size());
  entry.size += bytes.size();
  write(bytes.data(), bytes.size());
}

void NpzWriter::end() {
  const Entry& entry = entries_.back();
  const std::string header = local_header(entry);
  if (status_) status_ = pwrite_full(fd_, header.data(), header.size(), entry.offset, name_);
}

Status NpzWriter::finish() {
  const uint64_t begin = offset_;
  for (const Entry& entry : entries_) {
    const std::string bytes = directory_entry(entry);
    write(bytes.data(), bytes.size());
  }
  const uint64_t end = offset_;
  ByteWriter out;
  out.append("PK\x06\x06", 4);
  out.write(uint64_t{44});
  out.write(kZip64Version);
  out.write(kZip64Version);
  out.write(uint32_t{0});
  out.write(uint32_t{0});
  out.write(uint64_t{entries_.size()});
  out.write(uint64_t{entries_.size()});
  out.write(end - begin);
  out.write(begin);
  out.append("PK\x06\x07", 4);
  out.write(uint32_t{0});
  out.write(end);
  out.write(uint32_t{1});
  out.append("PK\x05\x06", 4);
  out.write(uint32_t{0});  // disks
  out.write(uint16_t{0xffff});
  out.write(uint16_t{0xffff});
  out.write(kInExtraField);
  out.write(kInExtraField);
  out.write(uint16_t{0});
  write(out.bytes().data(), out.bytes().size());
  return status_;
}

}  // namespace hoist::cli
