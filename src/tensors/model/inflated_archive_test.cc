// Archives that are made to cost more than they are, and those of numpy.savez_compressed.
#include "tensors/model/inflated_archive.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>

#include "base/test_seed.h"
#include "tensors/model/model_formats.h"
#include "tensors/model/model_testing.h"

namespace hoist::tensors {
namespace {

using container::as_bytes;
using container::memory_source;

std::string deflated(const std::string& content) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  std::string stream(libdeflate_deflate_compress_bound(compressor, content.size()), '\0');
  stream.resize(libdeflate_deflate_compress(compressor, content.data(), content.size(),
                                            stream.data(), stream.size()));
  libdeflate_free_compressor(compressor);
  return stream;
}

// An archive in the making, in which entries may lie wherever they should not.
class Zip {
 public:
  // A local header and a stream; its offset. As numpy.savez_compressed writes it, sizes in 64 bits.
  uint64_t add_local(const std::string& name, const std::string& stream, uint64_t size,
                     uint64_t stored) {
    const uint64_t offset = body_.size();
    ByteWriter out;
    out.append("PK\x03\x04\x2d\0\0\0\x08\0\0\0\0\0\0\0\0\0", 18);
    out.write<uint64_t>(~uint64_t{0});
    out.write(static_cast<uint16_t>(name.size()));
    out.write<uint16_t>(20);
    out.append(name.data(), name.size());
    out.write<uint16_t>(1);
    out.write<uint16_t>(16);
    out.write(size);
    out.write(stored);
    body_ += out.bytes() + stream;
    return offset;
  }
  void list(const std::string& name, const std::string& content, uint64_t stored, uint64_t offset) {
    ByteWriter out;
    out.append("PK\x01\x02\x2d\0\x2d\0\0\0\x08\0\0\0\0\0", 16);
    out.write<uint32_t>(libdeflate_crc32(0, content.data(), content.size()));
    out.write(static_cast<uint32_t>(stored));
    out.write(static_cast<uint32_t>(content.size()));
    out.write(static_cast<uint16_t>(name.size()));
    out.write<uint16_t>(0);
    out.write<uint64_t>(0);  // comment, disk, attributes
    out.write<uint16_t>(0);
    out.write(static_cast<uint32_t>(offset));
    out.append(name.data(), name.size());
    directory_ += out.bytes();
    ++entries_;
  }
  void add(const std::string& name, const std::string& content) {
    const std::string stream = deflated(content);
    list(name, content, stream.size(), add_local(name, stream, content.size(), stream.size()));
  }
  std::string& body() { return body_; }
  std::string bytes() const {
    ByteWriter end;
    end.append("PK\x05\x06\0\0\0\0", 8);
    end.write(entries_);
    end.write(entries_);
    end.write(static_cast<uint32_t>(directory_.size()));
    end.write(static_cast<uint32_t>(body_.size()));
    end.write<uint16_t>(0);
    return body_ + directory_ + end.bytes();
  }

 private:
  std::string body_;
  std::string directory_;
  uint16_t entries_ = 0;
};

std::string zeros(size_t bytes) { return npy_bytes("|u1", {bytes}, std::string(bytes, '\0')); }

void expect_overlap(const std::string& bytes, std::string_view entry) {
  const auto parsed = parse_npz(*memory_source(as_bytes(bytes)));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::corrupt);
  EXPECT_NE(parsed.error().message.find(fmt::format("'{}' overlaps", entry)), std::string::npos)
      << parsed.error().message;
}

TEST(InflatedArchive, ManyNamesOfOneStreamAreRefused) {
  const std::string content = zeros(1 << 20);
  const std::string stream = deflated(content);
  Zip zip;
  const uint64_t offset = zip.add_local("a.npy", stream, content.size(), stream.size());
  for (int i = 0; i < 200; ++i) {
    zip.list(fmt::format("a{}.npy", i), content, stream.size(), offset);
  }
  expect_overlap(zip.bytes(), "a0.npy");
}

// Each stream begins with a stored block that holds the next one's local header (D. Fifield, A
// better zip bomb, 2019).
TEST(InflatedArchive, HeadersWithinStreamsAreRefused) {
  const std::string content = zeros(100'000);
  const std::string stream = deflated(content);
  Zip zip;
  const uint64_t outer = zip.add_local("a.npy", "", content.size(), stream.size() + 100);
  zip.body().append("\0\x37\0\xc8\xff", 5);
  const uint64_t inner = zip.add_local("b.npy", stream, content.size(), stream.size());
  zip.list("a.npy", content, zip.body().size() - outer - 55, outer);
  zip.list("b.npy", content, stream.size(), inner);
  expect_overlap(zip.bytes(), "a.npy");
}

TEST(InflatedArchive, StreamsWithinTheDirectoryAreRefused) {
  const std::string content = zeros(1000);
  const std::string stream = deflated(content);
  Zip zip;
  const uint64_t offset = zip.add_local("a.npy", stream, content.size(), stream.size());
  zip.list("a.npy", content, stream.size() + 1, offset);
  expect_overlap(zip.bytes(), "a.npy");
}

TEST(InflatedArchive, WhatSavezCompressedWritesIsRead) {
  std::mt19937_64 random(test_seed());
  std::vector<std::pair<std::string, std::string>> arrays;
  for (int i = 0; i < 20; ++i) {
    std::string bytes(random() % 20'000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 5);
    arrays.emplace_back(fmt::format("array{}", i), bytes);
  }
  // A header that is larger than most.
  std::string fields = "[";
  for (int i = 0; i < 1000; ++i) fields += fmt::format("('f{}', '|u1'), ", i);
  Zip zip;
  for (const auto& [name, bytes] : arrays) {
    zip.add(name + ".npy", npy_bytes("|u1", {bytes.size()}, bytes));
  }
  zip.add("wide.npy", npy_bytes(fields + "]", {2}, std::string(2000, 'w')));
  zip.add("notes.txt", "hello");
  zip.body() += "a gap";
  const std::string archive = zip.bytes();
  const auto source = memory_source(as_bytes(archive));
  const auto parsed = parse_npz(*source);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->tensors.size(), arrays.size() + 1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ModelTensor& tensor = parsed->tensors[i];
    EXPECT_EQ(tensor.name, arrays[i].first);
    std::string bytes(tensor.bytes, '\0');
    ASSERT_TRUE(
        parsed->decompressed->read(tensor.offset, std::as_writable_bytes(std::span(bytes))));
    EXPECT_TRUE(bytes == arrays[i].second);
  }
  EXPECT_EQ(parsed->tensors.back().bytes, 2000u);
}

// What is not read is not decompressed: damage behind the header is found by who reads it, even
// where the header's part is all that is asked for.
TEST(InflatedArchive, OpeningDecompressesHeadersOnly) {
  std::mt19937_64 random(test_seed());
  std::string noise(100'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  Zip zip;
  zip.add("a.npy", npy_bytes("|u1", {noise.size()}, noise));
  zip.add("b.npy", npy_bytes("|u1", {1}, "b"));
  std::string archive = zip.bytes();
  archive[50'000] ^= 1;
  const auto source = memory_source(as_bytes(archive));
  const auto parsed = parse_npz(*source);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->tensors.size(), 2u);
  std::byte one{};
  const auto read = parsed->decompressed->read(parsed->tensors[0].offset, {&one, 1});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("'a.npy' does not decompress"), std::string::npos);
  ASSERT_TRUE(parsed->decompressed->read(parsed->tensors[1].offset, {&one, 1}));
  EXPECT_EQ(one, std::byte{'b'});
}

// Streams that end, or break, within the header; and any damage at all.
TEST(InflatedArchive, DamagedStreams) {
  std::mt19937_64 random(test_seed());
  const std::string content = zeros(5000);
  const std::string stream = deflated(content.substr(0, 60));
  Zip zip;
  const uint64_t offset = zip.add_local("a.npy", stream, content.size(), stream.size());
  zip.list("a.npy", content, stream.size(), offset);
  const std::string short_one = zip.bytes();
  const auto parsed = parse_npz(*memory_source(as_bytes(short_one)));
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("'a.npy' does not decompress"), std::string::npos);

  Zip whole;
  for (const char* name : {"a.npy", "b.npy"})
    whole.add(name, npy_bytes("<u2", {40}, std::string(80, 'x')));
  const std::string good = whole.bytes();
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (size_t i = 0; i <= random() % 3; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    const auto source = memory_source(as_bytes(bad));
    const auto taken = parse_npz(*source);
    if (!taken || !taken->decompressed) continue;
    for (const ModelTensor& tensor : taken->tensors) {
      std::string bytes(std::min<uint64_t>(tensor.bytes, 1 << 20), '\0');
      static_cast<void>(
          taken->decompressed->read(tensor.offset, std::as_writable_bytes(std::span(bytes))));
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
