#include "ops/gunzip/gzip_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>

namespace hoist::gunzip {
namespace {

class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string text, size_t step = SIZE_MAX)
      : text_(std::move(text)), step_(step) {}

  ssize_t read(void* data, size_t size) override {
    const size_t count = std::min({size, step_, text_.size() - at_});
    if (count == 0 && error_after_end != 0) {
      errno = error_after_end;
      return -1;
    }
    std::memcpy(data, text_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }

  int error_after_end = 0;

 private:
  std::string text_;
  size_t step_;
  size_t at_ = 0;
};

class StringSink : public ByteSink {
 public:
  uint8_t* first_buffer() override { return buffer_.get(); }
  uint8_t* submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) override {
    if (text.size() >= limit) return nullptr;
    text.append(begin, end);
    return buffer;
  }

  std::string text;
  size_t limit = SIZE_MAX;

 private:
  std::unique_ptr<uint8_t[]> buffer_{new uint8_t[OutputWindow::kBufferSize]};
};

std::string pack(const std::string& text, int level = 6, int strategy = Z_DEFAULT_STRATEGY) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 9, strategy), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Half noise, half repetitions from near and far.
std::string mixed_text(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < size) {
    if (text.size() < 10 || random() % 2 == 0) {
      for (uint64_t count = random() % 40; count > 0; --count) text += static_cast<char>(random());
    } else {
      const size_t distance =
          1 + random() % std::min<size_t>(text.size(), 1u << (1 + random() % 15));
      for (uint64_t length = random() % 300; length > 0; --length)
        text += text[text.size() - distance];
    }
  }
  text.resize(size);
  return text;
}

struct Reading {
  std::string text;
  HeaderStatus end = HeaderStatus::end;  // what the last header turned out to be
  MemberResult last;
  MemberHeader first_header;
  int members = 0;
};

Reading read_all(ByteSource& source, const HeaderMode& mode = {}, size_t output_limit = SIZE_MAX) {
  Reading reading;
  InputBuffer input;
  OutputWindow window;
  StringSink sink;
  sink.limit = output_limit;
  input.attach(source);
  window.attach(sink);
  GzipReader reader(input, window);
  MemberHeader header;
  for (;;) {
    reading.end = reader.next_member(mode, header);
    if (reading.members == 0) reading.first_header = header;
    if (reading.end == HeaderStatus::literal) reading.last = reader.copy_rest();
    if (reading.end != HeaderStatus::member) break;
    ++reading.members;
    reading.last = reader.read_member();
    if (reading.last.status != InflateStatus::done || !reading.last.crc_matches) break;
  }
  if (reading.last.status == InflateStatus::done) window.flush();
  reading.text = sink.text;
  return reading;
}

Reading read_all(const std::string& packed, const HeaderMode& mode = {}) {
  StringSource source(packed);
  return read_all(source, mode);
}

TEST(GzipReader, DecodesAllSizesLevelsAndStrategies) {
  const uint64_t seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  for (const size_t size :
       {0u, 1u, 2u, 3u, 258u, 32767u, 32768u, 32769u, 262144u, 300001u, 2000003u}) {
    const std::string text = mixed_text(size, seed + size);
    for (const int level : {0, 1, 6, 9}) {
      for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE}) {
        const Reading reading = read_all(pack(text, level, strategy));
        ASSERT_EQ(reading.end, HeaderStatus::end) << size << " " << level << " seed " << seed;
        ASSERT_TRUE(reading.last.crc_matches && reading.last.size_matches);
        ASSERT_TRUE(reading.text == text) << size << " " << level << " seed " << seed;
      }
    }
  }
}

TEST(GzipReader, TakesShortReads) {
  const std::string text = mixed_text(20000, 1);
  for (const size_t step : {1u, 2u, 7u, 1000u}) {
    StringSource source(pack(text) + pack("second"), step);
    const Reading reading = read_all(source);
    EXPECT_EQ(reading.members, 2);
    EXPECT_TRUE(reading.text == text + "second");
  }
}

TEST(GzipReader, CrossesInputBlocksAnywhere) {
  const std::string text = mixed_text(3000, 2);
  const std::string member = pack(text);
  const std::string empty = pack("");
  std::string lead = pack(mixed_text(250000, 3), 0);
  while (lead.size() + empty.size() < InputBuffer::kBlock - member.size()) lead += empty;
  for (size_t shift = 0; shift < member.size() + 40; shift += 3) {
    // Zero-length stored blocks would do as well; a comment moves what follows byte by byte.
    std::string padding = empty;
    padding[3] = 0x10;
    padding.insert(10, std::string(shift, 'c') + '\0');
    const Reading reading = read_all(lead + padding + member + member);
    ASSERT_EQ(reading.end, HeaderStatus::end) << shift;
    ASSERT_TRUE(reading.last.crc_matches) << shift;
    ASSERT_TRUE(reading.text.ends_with(text + text)) << shift;
  }
}

TEST(GzipReader, ReadsHeaderFields) {
  std::string packed = pack("text");
  packed[3] = 0x1e;  // CRC, extra field, name, comment
  packed.replace(4, 4, "\x01\x02\x03\x04", 4);
  std::string fields("\x03\0abcname\0comment\0", 18);
  std::string header = packed.substr(0, 10) + fields;
  const uint32_t crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size())));
  const std::string crc_bytes = {static_cast<char>(crc), static_cast<char>(crc >> 8)};
  const std::string good = header + crc_bytes + packed.substr(10);
  Reading reading = read_all(good, {.keep_name = true});
  EXPECT_EQ(reading.end, HeaderStatus::end);
  EXPECT_EQ(reading.text, "text");
  EXPECT_EQ(reading.first_header.name, "name");
  EXPECT_EQ(reading.first_header.extra_field_size, 3);
  EXPECT_EQ(reading.first_header.modification_time, 0x04030201u);
  EXPECT_EQ(reading.first_header.overhead, header.size() + 2 + 8);
  EXPECT_FALSE(read_all(good).first_header.name);

  std::string bad = good;
  bad[header.size()] ^= 1;
  reading = read_all(bad);
  EXPECT_EQ(reading.end, HeaderStatus::wrong_header_crc);
  EXPECT_EQ(reading.first_header.computed_crc ^ reading.first_header.stored_crc, 1);
}

TEST(GzipReader, RefusesLongStoredNamesOnlyWhereTheyAreKept) {
  std::string packed = pack("text");
  packed[3] = 0x08;
  packed.insert(10, std::string(GzipReader::kMaxNameSize + 1, 'n') + '\0');
  EXPECT_EQ(read_all(packed, {.keep_name = true}).end, HeaderStatus::name_too_long);
  EXPECT_EQ(read_all(packed).text, "text");
}

TEST(GzipReader, TellsWhatIsWrong) {
  const std::string packed = pack("some text");
  const auto changed = [&](size_t at, char value) {
    std::string copy = packed;
    copy[at] = value;
    return copy;
  };
  EXPECT_EQ(read_all("").end, HeaderStatus::input_ended);
  EXPECT_EQ(read_all("x").end, HeaderStatus::input_ended);
  EXPECT_EQ(read_all(std::string(1, '\0')).end, HeaderStatus::not_gzip);
  EXPECT_EQ(read_all("text").end, HeaderStatus::not_gzip);
  EXPECT_EQ(read_all("\x1f\x9d\x90").end, HeaderStatus::foreign);
  EXPECT_EQ(read_all("\x1f\x1e").end, HeaderStatus::foreign);
  EXPECT_EQ(read_all("\x1f\xa0").end, HeaderStatus::foreign);
  EXPECT_EQ(read_all("PK\x03\x04").end, HeaderStatus::foreign);
  EXPECT_EQ(read_all(changed(2, 7)).end, HeaderStatus::unknown_method);
  EXPECT_EQ(read_all(changed(3, 0x20)).end, HeaderStatus::encrypted);
  EXPECT_EQ(read_all(changed(3, '\x80')).end, HeaderStatus::reserved_flags);
  EXPECT_EQ(read_all(packed + "PK").end, HeaderStatus::trailing_garbage);
  EXPECT_EQ(read_all(packed + std::string(9, '\0')).end, HeaderStatus::trailing_zeros);
  EXPECT_EQ(read_all(packed + std::string(9, '\0') + "x").end, HeaderStatus::trailing_garbage);
  EXPECT_EQ(read_all(packed + "x").end, HeaderStatus::input_ended);
  EXPECT_EQ(read_all(packed + "x", {.short_allowed = true}).end, HeaderStatus::trailing_garbage);
  EXPECT_EQ(read_all(packed + "x", {.copy_through = true}).text, "some textx");
  EXPECT_EQ(read_all("plain", {.copy_through = true}).text, "plain");
  EXPECT_FALSE(read_all(changed(packed.size() - 6, '!')).last.crc_matches);
  EXPECT_FALSE(read_all(changed(packed.size() - 2, '!')).last.size_matches);
  EXPECT_EQ(read_all(changed(10, 0x07)).last.status, InflateStatus::invalid);
}

TEST(GzipReader, WritesWholeWindowsBeforeAnError) {
  const std::string text = mixed_text(100000, 4);
  std::string packed = pack(text, 0);
  packed[10 + 5 + 65535] = 0x07;  // the second stored block becomes one of a type that is none
  const Reading broken = read_all(packed);
  EXPECT_EQ(broken.last.status, InflateStatus::invalid);
  EXPECT_TRUE(broken.text == text.substr(0, 32768));
  // At the end of the input all that there is comes out.
  const Reading truncated = read_all(pack(text, 0).substr(0, 10 + 5 + 50000));
  EXPECT_EQ(truncated.last.status, InflateStatus::input_ended);
  EXPECT_TRUE(truncated.text == text.substr(0, 50000));
}

TEST(GzipReader, PassesOnReadAndWriteErrors) {
  const std::string text = mixed_text(400000, 5);
  StringSource failing(pack(text, 0).substr(0, 300000));
  failing.error_after_end = EIO;
  const Reading read_error = read_all(failing);
  EXPECT_EQ(read_error.last.status, InflateStatus::input_ended);
  EXPECT_EQ(read_error.text.size() % 32768, 0u);
  StringSource whole(pack(text));
  EXPECT_EQ(read_all(whole, {}, 0).last.status, InflateStatus::write_failed);
}

}  // namespace
}  // namespace hoist::gunzip
