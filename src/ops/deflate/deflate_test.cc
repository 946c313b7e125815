// The engine's streams, given back to zlib: they hold the input, and are no larger than zlib says.
#include "ops/deflate/deflate.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zlib.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "ops/deflate/data_type.h"
#include "ops/deflate/last_block.h"

namespace hoist::deflate {
namespace {

constexpr size_t kKiB = 1024;

std::string make_text(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  text.reserve(size + 24);
  while (text.size() < size) {
    text += std::to_string(random() % 3 == 0 ? random() % 100000 : random() % 50);
    text += random() % 11 == 0 ? '\n' : ' ';
  }
  text.resize(size);
  return text;
}

std::string make_noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

int window_bits_of(hoist_deflate_format format) {
  return format == HOIST_DEFLATE_RAW ? -15 : format == HOIST_DEFLATE_GZIP ? 31 : 15;
}

// The one-shot result of zlib, and what it tells in the z_stream.
std::string compress_by_zlib(const std::string& input, int level, hoist_deflate_format format,
                             z_stream& stream) {
  stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, window_bits_of(format), 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, input.size()), '\0');
  EXPECT_LE(hoist_deflate_bound(input.size(), format), out.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string inflate_by_zlib(const std::string& data, size_t size, hoist_deflate_format format) {
  std::string content(size + 1, '\0');
  z_stream stream = {};
  inflateInit2(&stream, window_bits_of(format));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END) << (stream.msg ? stream.msg : "");
  EXPECT_EQ(stream.avail_in, 0u);
  content.resize(stream.total_out);
  inflateEnd(&stream);
  return content;
}

void check(const std::string& input, int level, hoist_deflate_format format) {
  SCOPED_TRACE(testing::Message() << input.size() << " bytes, level " << level << ", " << format);
  constexpr size_t kGuard = 32;
  const uint64_t bound = hoist_deflate_bound(input.size(), format);
  std::string out(bound + kGuard, '\x5a');
  const hoist_deflate_call call = {.in = input.data(),
                                   .in_size = input.size(),
                                   .out = out.data(),
                                   .room = bound,
                                   .level = level,
                                   .format = format,
                                   .wants_data_type = false};
  hoist_deflate_result result = {};
  ASSERT_TRUE(hoist_deflate(&call, &result));
  EXPECT_EQ(out.substr(bound), std::string(kGuard, '\x5a'));
  out.resize(result.size);
  EXPECT_TRUE(inflate_by_zlib(out, input.size(), format) == input);
  z_stream stream;
  const std::string theirs = compress_by_zlib(input, level, format, stream);
  const size_t header = format == HOIST_DEFLATE_RAW ? 0 : format == HOIST_DEFLATE_GZIP ? 10 : 2;
  EXPECT_EQ(out.substr(0, header), theirs.substr(0, header));
  if (format != HOIST_DEFLATE_RAW) {
    EXPECT_EQ(result.checksum, stream.adler);
  }
  // The promise about ratios, with room for what a few bytes mean to small inputs.
  EXPECT_LE(out.size(), theirs.size() * 1.02 + 64);
}

TEST(Deflate, LevelsAndFormats) {
  const std::string text = make_text(700 * kKiB, 1);
  for (int level = 1; level <= 9; ++level) {
    check(text, level, static_cast<hoist_deflate_format>(level % 3));
  }
}

TEST(Deflate, SizesAroundTheCuts) {
  for (const size_t size : {size_t{1}, size_t{2}, 64 * kKiB, 512 * kKiB - 1, 512 * kKiB,
                            512 * kKiB + 1, 2048 * kKiB, 2048 * kKiB + 1, 2500 * kKiB}) {
    check(make_text(size, size), 1, HOIST_DEFLATE_ZLIB);
  }
}

TEST(Deflate, ContentOfAllKinds) {
  const size_t size = 1500 * kKiB;
  check(make_noise(size, 3), 6, HOIST_DEFLATE_RAW);
  check(std::string(size, '\0'), 6, HOIST_DEFLATE_GZIP);
  check(make_noise(size / 2, 4) + make_text(size / 2, 4), 4, HOIST_DEFLATE_ZLIB);
}

TEST(Deflate, WhatIsLeft) {
  const std::string text = make_text(100 * kKiB, 5);
  const uint64_t bound = hoist_deflate_bound(text.size(), HOIST_DEFLATE_RAW);
  std::string out(2 * bound, '\0');
  hoist_deflate_call call = {.in = text.data(),
                             .in_size = text.size(),
                             .out = out.data(),
                             .room = bound - 1,
                             .level = 6,
                             .format = HOIST_DEFLATE_RAW,
                             .wants_data_type = false};
  hoist_deflate_result result = {};
  EXPECT_FALSE(hoist_deflate(&call, &result)) << "no room for every input of this size";
  call.room = bound;
  call.in = out.data() + 1;
  EXPECT_FALSE(hoist_deflate(&call, &result)) << "in place";
}

// Streams of libdeflate's, of all kinds of blocks.
std::vector<std::string> make_streams() {
  std::vector<std::string> streams;
  for (const int level : {0, 1, 6, 9}) {
    libdeflate_compressor* const compressor = libdeflate_alloc_compressor(level);
    for (const std::string& input :
         {std::string(), std::string("a"), make_text(300, 6), make_text(400 * kKiB, 7),
          make_noise(200 * kKiB, 8), std::string(100 * kKiB, 'x'),
          make_noise(70 * kKiB, 9) + make_text(70 * kKiB, 9)}) {
      std::string out(libdeflate_deflate_compress_bound(compressor, input.size()), '\0');
      out.resize(libdeflate_deflate_compress(compressor, input.data(), input.size(), out.data(),
                                             out.size()));
      streams.push_back(out);
    }
    libdeflate_free_compressor(compressor);
  }
  return streams;
}

TEST(LastBlock, OpenedStreamsGoOn) {
  std::string all;
  std::string content;
  for (const std::string& stream : make_streams()) {
    content += inflate_by_zlib(stream, 500 * kKiB, HOIST_DEFLATE_RAW);
    std::string opened = stream + std::string(kOpenEnd + kReadMargin, '\x7f');
    const size_t size = open_end(reinterpret_cast<uint8_t*>(opened.data()), stream.size());
    ASSERT_GT(size, stream.size());
    ASSERT_LE(size, stream.size() + kOpenEnd);
    all += opened.substr(0, size);
  }
  all += std::string("\x03\0", 2);  // the last block, fixed codes, nothing in it
  EXPECT_TRUE(inflate_by_zlib(all, content.size(), HOIST_DEFLATE_RAW) == content);
}

TEST(LastBlock, EndIsWhereZlibFindsIt) {
  for (const std::string& stream : make_streams()) {
    const std::string padded = stream + std::string(kReadMargin, '\xff');
    const auto* const bytes = reinterpret_cast<const uint8_t*>(padded.data());
    const std::optional<LastBlock> block = find_last_block(bytes, stream.size());
    ASSERT_TRUE(block);
    EXPECT_EQ((block->end + 7) / 8, stream.size());
    EXPECT_LT(block->header, block->end);
    EXPECT_FALSE(find_last_block(bytes, stream.size() - 1)) << "cut";
  }
}

TEST(LastBlock, SurvivesDamage) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::string> streams = make_streams();
  for (int round = 0; round < 2000; ++round) {
    std::string stream = streams[random() % streams.size()].substr(0, 5000);
    for (int i = 0; i < 3; ++i) stream[random() % stream.size()] = static_cast<char>(random());
    std::vector<uint8_t> exact(stream.begin(), stream.end());
    exact.resize(exact.size() + kReadMargin);  // a sanitizer watches its end
    const std::optional<LastBlock> block = find_last_block(exact.data(), stream.size());
    if (block) {
      EXPECT_LE(block->end, 8 * stream.size());
    }
  }
}

TEST(DataType, AsZlibFindsIt) {
  const std::string text = make_text(40 * kKiB, 10);
  for (const size_t at : {size_t{0}, size_t{100}, size_t{16000}, size_t{16382}, 30 * kKiB}) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string input = text;
      input[at] = static_cast<char>(byte);
      const std::optional<int> type = data_type_of(std::as_bytes(std::span(input)));
      if (!type) {
        EXPECT_GT(at, 16382u);
        continue;
      }
      z_stream stream;
      compress_by_zlib(input, 1, HOIST_DEFLATE_RAW, stream);
      EXPECT_EQ(*type, stream.data_type) << at << " " << byte;
    }
  }
  const std::string neither(100 * kKiB, '\x1b');
  EXPECT_FALSE(data_type_of(std::as_bytes(std::span(neither))));
}

}  // namespace
}  // namespace hoist::deflate
