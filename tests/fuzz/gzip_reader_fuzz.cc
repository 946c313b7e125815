// Reads arbitrary bytes as a gzip file. Whatever zlib accepts as one, the reader must accept too,
// with the same bytes; what zlib rejects it may take, as gzip does.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ops/gunzip/gzip_reader.h"

namespace {

using namespace hoist::gunzip;

constexpr size_t kMaxOutput = size_t{1} << 20;

class MemorySource : public ByteSource {
 public:
  MemorySource(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  ssize_t read(void* data, size_t size) override {
    const size_t count = std::min(size, static_cast<size_t>(end_ - next_));
    if (count != 0) std::memcpy(data, next_, count);
    next_ += count;
    return static_cast<ssize_t>(count);
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
};

// Collects the output, and refuses more than kMaxOutput. Changes buffers as FileSink does.
class Collector : public ByteSink {
 public:
  uint8_t* first_buffer() override { return buffers_[0]; }
  uint8_t* submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) override {
    if (output.size() + static_cast<size_t>(end - begin) > kMaxOutput) return nullptr;
    output.insert(output.end(), begin, end);
    return buffers_[buffer == buffers_[0] ? 1 : 0];
  }

  std::vector<uint8_t> output;

 private:
  inline static uint8_t buffers_[2][OutputWindow::kBufferSize];
};

// The first member according to zlib; false where it is broken or too long.
bool inflate_with_zlib(const uint8_t* data, size_t size, std::vector<uint8_t>& output) {
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return false;
  output.resize(kMaxOutput);
  stream.next_in = const_cast<uint8_t*>(data);
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = output.data();
  stream.avail_out = static_cast<uInt>(output.size());
  const int status = inflate(&stream, Z_FINISH);
  output.resize(stream.total_out);
  inflateEnd(&stream);
  return status == Z_STREAM_END;
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "gzip_reader_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static InputBuffer input;
  static OutputWindow window;
  MemorySource source(data, size);
  static Collector sink;
  sink.output.clear();
  input.attach(source);
  window.attach(sink);
  GzipReader reader(input, window);

  std::vector<uint8_t> expected;
  const bool valid = inflate_with_zlib(data, size, expected);
  const HeaderMode mode = {.keep_name = size % 2 == 0, .copy_through = size % 3 == 0};
  MemberHeader header;
  for (bool first = true;; first = false) {
    const HeaderStatus status = reader.next_member(mode, header);
    if (first && valid) {
      if (status == HeaderStatus::name_too_long) return 0;
      require(status == HeaderStatus::member, "a valid header was rejected");
    }
    if (status == HeaderStatus::literal) reader.copy_rest();
    if (status != HeaderStatus::member) break;
    const MemberResult result = reader.read_member();
    if (first && valid && result.status != InflateStatus::write_failed) {
      require(result.status == InflateStatus::done, "a valid stream was rejected");
      require(result.crc_matches && result.size_matches, "a valid trailer was rejected");
      require(window.flush() && sink.output == expected, "the output differs");
    }
    if (result.status != InflateStatus::done || !result.crc_matches) break;
  }
  return 0;
}
