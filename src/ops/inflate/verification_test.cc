#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ops/inflate/inflate.h"

namespace {

bool disagrees = false;

// A zlib that may say something else than ours.
int other_inflate(z_streamp strm, int flush) {
  Bytef* const out = strm->next_out;
  const int result = inflate(strm, flush);
  if (disagrees) out[0] ^= 1;
  return result;
}

std::vector<Bytef> deflated(const std::string& text) {
  std::vector<Bytef> packed(compressBound(text.size()) + 100);
  z_stream strm = {};
  deflateInit2(&strm, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  strm.next_in = reinterpret_cast<const Bytef*>(text.data());
  strm.avail_in = static_cast<uInt>(text.size());
  strm.next_out = packed.data();
  strm.avail_out = static_cast<uInt>(packed.size());
  deflate(&strm, Z_FINISH);
  packed.resize(strm.total_out);
  deflateEnd(&strm);
  return packed;
}

// A raw stream from its start on, in the memory of one.
class RawStream {
 public:
  explicit RawStream(const std::vector<Bytef>& packed, std::string& output) {
    inflateInit2(&strm_, -MAX_WBITS);
    strm_.next_in = packed.data();
    strm_.avail_in = static_cast<uInt>(packed.size());
    strm_.next_out = reinterpret_cast<Bytef*>(output.data());
    strm_.avail_out = static_cast<uInt>(output.size());
    const hoist_inflate_originals originals = {.inflate = other_inflate,
                                               .inflateGetDictionary = inflateGetDictionary};
    hoist_inflate_boundary boundary = {};
    boundary.format = HOIST_INFLATE_RAW;
    boundary.nothing_read = true;
    boundary.window_bits = MAX_WBITS;
    boundary.originals = &originals;
    ours_ = hoist_inflate.start(&strm_, &boundary);
  }
  ~RawStream() {
    if (ours_ != nullptr) hoist_inflate.end(ours_);
    inflateEnd(&strm_);
  }
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  bool taken() const { return ours_ != nullptr; }
  int run(int flush) { return hoist_inflate.inflate(&ours_, &strm_, flush); }
  const z_stream& strm() const { return strm_; }

 private:
  z_stream strm_ = {};
  hoist_inflater* ours_ = nullptr;
};

// The engine looks at the environment when it is loaded.
[[gnu::constructor(101)]] void set_environment() {
  static char folder[] = "/tmp/hoist-verification-XXXXXX";
  ::setenv("XDG_CACHE_HOME", ::mkdtemp(folder), 1);
  ::setenv("HOIST_VERIFY", "1", 1);
  ::setenv("HOIST_LOG", "error", 1);
}

TEST(Verification, ZlibsResultCountsAndSwitchesOff) {
  const std::filesystem::path cache = std::getenv("XDG_CACHE_HOME");
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i);
  const std::vector<Bytef> packed = deflated(text);
  {
    std::string output(text.size(), '\0');
    RawStream same(packed, output);
    ASSERT_TRUE(same.taken());
    EXPECT_EQ(same.run(Z_FINISH), Z_STREAM_END);
    EXPECT_TRUE(same.taken());
    EXPECT_EQ(output, text);
  }
  {
    std::string output(text.size() + 10, '\0');
    RawStream different(packed, output);
    ASSERT_TRUE(different.taken());
    disagrees = true;
    EXPECT_EQ(different.run(Z_FINISH), Z_STREAM_END);
    EXPECT_FALSE(different.taken());
    EXPECT_EQ(output[0], text[0] ^ 1);
    EXPECT_EQ(output.substr(1, text.size() - 1), text.substr(1));
    EXPECT_EQ(different.strm().total_out, text.size());
    EXPECT_EQ(different.strm().avail_out, 10u);
  }
  std::string output(text.size(), '\0');
  EXPECT_FALSE(RawStream(packed, output).taken());
  EXPECT_TRUE(std::filesystem::exists(cache / "hoist/switched-off"));
  std::filesystem::remove_all(cache);
}

}  // namespace
