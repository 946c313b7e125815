// The engine against libzstd on the same input. Where it does a call, result, bytes and the
// context's state must be libzstd's; where it leaves one, nothing beside the output was touched.
#include "ops/zstd/zstd.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "base/call_team.h"
#include "ops/zstd/pieces.h"
#include "ops/zstd/zstd_testing.h"

namespace hoist::zstd {
namespace {

using testing::FrameOptions;
using testing::library;
using testing::make_frame;
using testing::make_skippable_frame;
using testing::make_text;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGuard = 64;

// A buffer whose end is watched.
class Output {
 public:
  explicit Output(size_t size) : bytes_(size + kGuard, '\x5a') {}
  char* data() { return bytes_.data(); }
  size_t size() const { return bytes_.size() - kGuard; }
  std::string text(size_t size) const { return bytes_.substr(0, size); }
  bool is_intact() const {
    return bytes_.find_first_not_of('\x5a', bytes_.size() - kGuard) == std::string::npos;
  }

 private:
  std::string bytes_;
};

struct Dictionary {
  std::string content;
  ZSTD_DDict* digested = nullptr;
};

// Whether the engine did the call, having checked that it did what libzstd does.
bool decompresses_alike(const std::string& input, size_t room, const Dictionary& dictionary = {}) {
  ZSTD_DCtx* const own = ZSTD_createDCtx();
  ZSTD_DCtx* const oracle = ZSTD_createDCtx();
  Output ours(room);
  Output theirs(room);
  const hoist_zstd_decompression call = {
      .dctx = own,
      .special = false,
      .dst = ours.data(),
      .capacity = room,
      .src = input.data(),
      .size = input.size(),
      .dict = dictionary.digested != nullptr || dictionary.content.empty()
                  ? nullptr
                  : dictionary.content.data(),
      .dict_size = dictionary.digested != nullptr ? 0 : dictionary.content.size(),
      .ddict = dictionary.digested};
  const size_t expected =
      dictionary.digested != nullptr
          ? ZSTD_decompress_usingDDict(oracle, theirs.data(), room, input.data(), input.size(),
                                       dictionary.digested)
          : ZSTD_decompress_usingDict(oracle, theirs.data(), room, input.data(), input.size(),
                                      call.dict, call.dict_size);
  size_t result = 0;
  const bool done = hoist_zstd_decompress(&library(), &call, &result);
  EXPECT_TRUE(ours.is_intact());
  if (done) {
    EXPECT_EQ(result, expected);
    EXPECT_TRUE(ours.text(result) == theirs.text(result));
    EXPECT_EQ(ZSTD_nextInputType(own), ZSTD_nextInputType(oracle));
    EXPECT_EQ(ZSTD_nextSrcSizeToDecompress(own), ZSTD_nextSrcSizeToDecompress(oracle));
  }
  ZSTD_freeDCtx(own);
  ZSTD_freeDCtx(oracle);
  return done;
}

std::string make_frames(size_t count, size_t size, const FrameOptions& options = {}) {
  std::string frames;
  for (size_t i = 0; i < count; ++i) frames += make_frame(make_text(size, i), options);
  return frames;
}

class Decompression : public ::testing::Test {
 protected:
  void SetUp() override {
    if (most_call_threads() < 2) GTEST_SKIP() << "one CPU";
  }
};

TEST_F(Decompression, SeveralFrames) {
  EXPECT_TRUE(decompresses_alike(make_frames(4, kMiB), 4 * kMiB));
  EXPECT_TRUE(decompresses_alike(make_frames(4, kMiB), 5 * kMiB));
  EXPECT_TRUE(decompresses_alike(make_frames(3, kMiB, {.checksum = true}), 3 * kMiB));
  EXPECT_TRUE(decompresses_alike(make_frames(500, 5000), 500 * 5000));
}

TEST_F(Decompression, FramesAroundThePieceSize) {
  for (const size_t size : {kMiB / 2 - 1, kMiB / 2, kMiB / 2 + 1}) {
    EXPECT_TRUE(decompresses_alike(make_frames(4, size), 4 * size));
  }
}

TEST_F(Decompression, EmptyAndSkippableFramesAnywhere) {
  const std::string empty = make_frame("");
  const std::string skippable = make_skippable_frame(1000);
  const std::string one = make_frames(1, kMiB);
  EXPECT_TRUE(decompresses_alike(one + skippable + one, 2 * kMiB));
  EXPECT_TRUE(decompresses_alike(skippable + empty + one + one + empty, 2 * kMiB));
  EXPECT_TRUE(decompresses_alike(one + one + skippable, 2 * kMiB));
}

TEST_F(Decompression, WhatTheOriginalJudges) {
  const std::string one = make_frames(1, kMiB);
  const std::string unknown = make_frame(make_text(kMiB, 1), {.content_size = false});
  EXPECT_FALSE(decompresses_alike(one, kMiB)) << "one frame";
  EXPECT_FALSE(decompresses_alike(one + make_frame("few"), 2 * kMiB)) << "one large frame";
  EXPECT_FALSE(decompresses_alike(one + unknown, 2 * kMiB)) << "unknown size";
  EXPECT_FALSE(decompresses_alike(one + one, 2 * kMiB - 1)) << "no room";
  EXPECT_FALSE(decompresses_alike(one + one + "garbage", 2 * kMiB)) << "garbage";
  EXPECT_FALSE(decompresses_alike((one + one).substr(0, 2 * one.size() - 1), 2 * kMiB)) << "cut";
  EXPECT_FALSE(decompresses_alike("", 2 * kMiB));
}

TEST_F(Decompression, Dictionaries) {
  Dictionary dictionary{.content = make_text(50000, 77)};
  const std::string plain = make_frames(2, kMiB);
  const std::string frames = make_frames(3, kMiB, {.dictionary = dictionary.content});
  EXPECT_TRUE(decompresses_alike(frames, 3 * kMiB, dictionary));
  dictionary.digested = ZSTD_createDDict(dictionary.content.data(), dictionary.content.size());
  EXPECT_TRUE(decompresses_alike(frames, 3 * kMiB, dictionary));
  EXPECT_TRUE(decompresses_alike(plain, 2 * kMiB, dictionary));
  ZSTD_freeDDict(dictionary.digested);
  decompresses_alike(frames, 3 * kMiB);
}

TEST_F(Decompression, SettingsAndOverlap) {
  const std::string frames = make_frames(2, kMiB);
  std::string buffer(3 * kMiB, '\0');
  hoist_zstd_decompression call = {.dctx = nullptr,
                                   .special = true,
                                   .dst = buffer.data(),
                                   .capacity = buffer.size(),
                                   .src = frames.data(),
                                   .size = frames.size(),
                                   .dict = nullptr,
                                   .dict_size = 0,
                                   .ddict = nullptr};
  size_t result = 0;
  EXPECT_FALSE(hoist_zstd_decompress(&library(), &call, &result));
  call.special = false;
  EXPECT_TRUE(hoist_zstd_decompress(&library(), &call, &result));
  EXPECT_EQ(result, 2 * kMiB);
  char* const end = buffer.data() + buffer.size() - frames.size();
  std::memcpy(end, frames.data(), frames.size());
  call.src = end;
  EXPECT_FALSE(hoist_zstd_decompress(&library(), &call, &result));
}

TEST_F(Decompression, DamagedInput) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const std::string frames = make_frames(4, kMiB / 2, {.checksum = true});
  // There are bits that libzstd does not look at.
  const auto is_refused = [](const std::string& damaged) {
    std::string whole(2 * kMiB, '\0');
    return ZSTD_decompress(whole.data(), whole.size(), damaged.data(), damaged.size()) != 2 * kMiB;
  };
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    std::string damaged = frames;
    for (uint64_t count = 1 + random() % 3; count > 0; --count) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    }
    const bool is_done = decompresses_alike(damaged, 2 * kMiB);
    if (!is_refused(damaged)) continue;
    EXPECT_FALSE(is_done) << "round " << round;
    ++refused;
  }
  EXPECT_GT(refused, 30);
}

TEST(Pieces, CoverInputAndOutput) {
  std::string frames = make_skippable_frame(10);
  size_t content = 0;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{9999}, size_t{70000}, size_t{5}}) {
    frames += make_frame(make_text(size, size));
    content += size;
  }
  for (const size_t piece_size : {size_t{1}, size_t{10000}, size_t{1} << 30}) {
    const Cut cut = cut_frames(library(), frames.data(), frames.size(), content, piece_size);
    ASSERT_EQ(cut.objection, nullptr);
    EXPECT_EQ(cut.output, content);
    size_t src = 0;
    size_t dst = 0;
    for (const Piece& piece : cut.pieces) {
      EXPECT_EQ(piece.src, src);
      EXPECT_EQ(piece.dst, dst);
      src += piece.src_size;
      dst += piece.dst_size;
    }
    EXPECT_EQ(src, frames.size());
    EXPECT_EQ(dst, content);
  }
}

class Compression : public Decompression {
 protected:
  void SetUp() override {
    Decompression::SetUp();
    cctx_ = ZSTD_createCCtx();
    if (ZSTD_isError(ZSTD_CCtx_setParameter(cctx_, ZSTD_c_nbWorkers, 1))) {
      GTEST_SKIP() << "libzstd without threads";
    }
    ZSTD_CCtx_setParameter(cctx_, ZSTD_c_nbWorkers, 0);
  }
  void TearDown() override { ZSTD_freeCCtx(cctx_); }

  void set(ZSTD_cParameter parameter, int value) {
    ASSERT_FALSE(ZSTD_isError(ZSTD_CCtx_setParameter(cctx_, parameter, value)));
  }

  static ZSTD_frameHeader header_of(const std::string& frame) {
    ZSTD_frameHeader header = {};
    EXPECT_EQ(ZSTD_getFrameHeader(&header, frame.data(), frame.size()), 0u);
    return header;
  }

  // Whether the engine did it, having checked that the frame holds the text, and says of itself
  // what libzstd's says.
  bool compresses_alike(const std::string& text, size_t room, bool with_context, int level) {
    Output ours(room);
    const hoist_zstd_compression call = {.cctx = with_context ? cctx_ : nullptr,
                                         .special = false,
                                         .level = level,
                                         .dst = ours.data(),
                                         .capacity = room,
                                         .src = text.data(),
                                         .size = text.size()};
    size_t result = 0;
    const bool done = hoist_zstd_compress(&library(), &call, &result);
    EXPECT_TRUE(ours.is_intact());
    if (!done) return false;
    const std::string frame = ours.text(result);
    std::string theirs(ZSTD_compressBound(text.size()), '\0');
    theirs.resize(
        with_context
            ? ZSTD_compress2(cctx_, theirs.data(), theirs.size(), text.data(), text.size())
            : ZSTD_compress(theirs.data(), theirs.size(), text.data(), text.size(), level));
    const ZSTD_frameHeader own = header_of(frame);
    const ZSTD_frameHeader original = header_of(theirs);
    EXPECT_EQ(own.frameContentSize, original.frameContentSize);
    EXPECT_EQ(own.checksumFlag, original.checksumFlag);
    EXPECT_EQ(own.dictID, original.dictID);
    EXPECT_LE(own.windowSize, original.windowSize);
    std::string content(text.size(), '\0');
    EXPECT_EQ(ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size()),
              text.size());
    EXPECT_TRUE(content == text);
    return true;
  }
  bool compresses_alike(const std::string& text) {
    return compresses_alike(text, ZSTD_compressBound(text.size()), true, 0);
  }

  ZSTD_CCtx* cctx_ = nullptr;
};

TEST_F(Compression, Levels) {
  for (const int level : {-5, 0, 1, 3, 9}) {
    const std::string text = make_text(5 * kMiB + 1, 5);
    EXPECT_TRUE(compresses_alike(text, ZSTD_compressBound(text.size()), false, level)) << level;
  }
}

TEST_F(Compression, ParametersOfTheContext) {
  const std::string text = make_text(3 * kMiB, 6);
  EXPECT_TRUE(compresses_alike(text));
  set(ZSTD_c_checksumFlag, 1);
  set(ZSTD_c_compressionLevel, 2);
  EXPECT_TRUE(compresses_alike(text));
  set(ZSTD_c_contentSizeFlag, 0);
  set(ZSTD_c_windowLog, 17);
  EXPECT_TRUE(compresses_alike(text));
  set(ZSTD_c_enableLongDistanceMatching, 1);
  EXPECT_TRUE(compresses_alike(text));
}

TEST_F(Compression, WhatIsLeft) {
  const std::string text = make_text(3 * kMiB, 7);
  EXPECT_FALSE(compresses_alike(text, ZSTD_compressBound(text.size()) - 1, false, 3)) << "room";
  set(ZSTD_c_stableOutBuffer, 1);
  EXPECT_FALSE(compresses_alike(text)) << "stable buffers";
  set(ZSTD_c_stableOutBuffer, 0);
  set(ZSTD_c_format, ZSTD_f_zstd1_magicless);
  EXPECT_FALSE(compresses_alike(text)) << "magicless";
  set(ZSTD_c_format, ZSTD_f_zstd1);
  set(ZSTD_c_nbWorkers, 2);
  EXPECT_FALSE(compresses_alike(text)) << "threads of its own";
  set(ZSTD_c_nbWorkers, 0);
  std::string start(kMiB, '\0');
  ZSTD_inBuffer input = {text.data(), 1000, 0};
  ZSTD_outBuffer output = {start.data(), start.size(), 0};
  ZSTD_compressStream2(cctx_, &output, &input, ZSTD_e_continue);
  EXPECT_FALSE(compresses_alike(text)) << "in the middle of a frame";
  ZSTD_CCtx_reset(cctx_, ZSTD_reset_session_only);
  EXPECT_TRUE(compresses_alike(text));
}

TEST_F(Compression, TextThatDoesNotCompress) {
  std::mt19937_64 random(8);
  std::string noise(4 * kMiB + 3, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  EXPECT_TRUE(compresses_alike(noise));
}

}  // namespace
}  // namespace hoist::zstd
