// What the tests of zstd share: libzstd itself, and input of several frames.
#pragma once

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <cstring>
#include <random>
#include <string>

#include "ops/zstd/zstd.h"

namespace hoist::zstd::testing {

inline const hoist_zstd_library& library() {
  static const hoist_zstd_library functions = {
      .is_error = ZSTD_isError,
      .find_frame_compressed_size = ZSTD_findFrameCompressedSize,
      .get_frame_content_size = ZSTD_getFrameContentSize,
      .create_dctx = [] { return static_cast<void*>(ZSTD_createDCtx()); },
      .free_dctx = [](void* dctx) { return ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(dctx)); },
      .decompress_using_dict =
          [](void* dctx, void* dst, size_t capacity, const void* src, size_t size, const void* dict,
             size_t dict_size) {
            return ZSTD_decompress_usingDict(static_cast<ZSTD_DCtx*>(dctx), dst, capacity, src,
                                             size, dict, dict_size);
          },
      .decompress_using_ddict =
          [](void* dctx, void* dst, size_t capacity, const void* src, size_t size,
             const void* ddict) {
            return ZSTD_decompress_usingDDict(static_cast<ZSTD_DCtx*>(dctx), dst, capacity, src,
                                              size, static_cast<const ZSTD_DDict*>(ddict));
          },
      .create_cctx = [] { return static_cast<void*>(ZSTD_createCCtx()); },
      .free_cctx = [](void* cctx) { return ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(cctx)); },
      .get_parameter =
          [](const void* cctx, int parameter, int* value) {
            return ZSTD_CCtx_getParameter(static_cast<const ZSTD_CCtx*>(cctx),
                                          static_cast<ZSTD_cParameter>(parameter), value);
          },
      .set_parameter =
          [](void* cctx, int parameter, int value) {
            return ZSTD_CCtx_setParameter(static_cast<ZSTD_CCtx*>(cctx),
                                          static_cast<ZSTD_cParameter>(parameter), value);
          },
      .compress2 =
          [](void* cctx, void* dst, size_t capacity, const void* src, size_t size) {
            return ZSTD_compress2(static_cast<ZSTD_CCtx*>(cctx), dst, capacity, src, size);
          },
      .compress_bound = ZSTD_compressBound,
  };
  return functions;
}

// Words of a small vocabulary: compresses like text.
inline std::string make_text(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  text.reserve(size + 16);
  while (text.size() < size) {
    text += std::to_string(random() % 3 == 0 ? random() % 100000 : random() % 50);
    text += random() % 11 == 0 ? '\n' : ' ';
  }
  text.resize(size);
  return text;
}

struct FrameOptions {
  int level = 1;
  bool checksum = false;
  bool content_size = true;
  std::string dictionary = {};
};

inline std::string make_frame(const std::string& content, const FrameOptions& options = {}) {
  ZSTD_CCtx* const cctx = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, options.content_size ? 1 : 0);
  ZSTD_CCtx_loadDictionary(cctx, options.dictionary.data(), options.dictionary.size());
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress2(cctx, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(cctx);
  return frame;
}

inline std::string make_skippable_frame(size_t size) {
  std::string frame(size + ZSTD_SKIPPABLEHEADERSIZE, '\0');
  const std::string content(size, 'x');
  frame.resize(ZSTD_writeSkippableFrame(frame.data(), frame.size(), content.data(), size, 3));
  return frame;
}

}  // namespace hoist::zstd::testing
