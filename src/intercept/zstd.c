/* One-shot functions of libzstd: large calls are offered to libhoist_zstd.so, which does them with
 * libzstd's own functions on several cores, or leaves them. */
#define ZSTD_STATIC_LINKING_ONLY
#include "intercept/zstd.h"

#include <zstd.h>

#include "intercept/caller_scope.h"
#include "intercept/engine_library.h"
#include "intercept/stack_room.h"
#include "intercept/zstd_contexts.h"
#include "ops/zstd/zstd.h"

enum {
  /* Bytes. Decompression needs this much room for output, and this much input; both in a call that
   * takes libzstd about half a millisecond, ten times what starting a thread takes. */
  kLargeOutput = 1 << 20,
  kLargeInput = 64 << 10,
  /* Input of such calls that a program has to have made before the engine is loaded, which takes
   * 0.3 ms. */
  kWorthLoading = 512 << 10,
  kLargeCompression = 1 << 20,
  /* Bytes of stack. */
  kEnoughStack = 256 << 10,
};

enum function {
  COMPRESS,
  COMPRESS_CCTX,
  COMPRESS2,
  COMPRESS_STREAM2,
  COMPRESS_BOUND,
  CREATE_CCTX,
  CREATE_DCTX,
  DECOMPRESS,
  DECOMPRESS_DCTX,
  DECOMPRESS_USING_DDICT,
  DECOMPRESS_USING_DICT,
  FIND_FRAME_COMPRESSED_SIZE,
  FREE_CCTX,
  FREE_DCTX,
  GENERATE_SEQUENCES,
  GET_FRAME_CONTENT_SIZE,
  GET_PARAMETER,
  IS_ERROR,
  SET_PARAMETER,
};

static void* original(enum function function, const void* caller) {
  static struct {
    const char* name;
    void* address;
  } functions[] = {
      [COMPRESS] = {"ZSTD_compress", NULL},
      [COMPRESS_CCTX] = {"ZSTD_compressCCtx", NULL},
      [COMPRESS2] = {"ZSTD_compress2", NULL},
      [COMPRESS_STREAM2] = {"ZSTD_compressStream2", NULL},
      [COMPRESS_BOUND] = {"ZSTD_compressBound", NULL},
      [CREATE_CCTX] = {"ZSTD_createCCtx", NULL},
      [CREATE_DCTX] = {"ZSTD_createDCtx", NULL},
      [DECOMPRESS] = {"ZSTD_decompress", NULL},
      [DECOMPRESS_DCTX] = {"ZSTD_decompressDCtx", NULL},
      [DECOMPRESS_USING_DDICT] = {"ZSTD_decompress_usingDDict", NULL},
      [DECOMPRESS_USING_DICT] = {"ZSTD_decompress_usingDict", NULL},
      [FIND_FRAME_COMPRESSED_SIZE] = {"ZSTD_findFrameCompressedSize", NULL},
      [FREE_CCTX] = {"ZSTD_freeCCtx", NULL},
      [FREE_DCTX] = {"ZSTD_freeDCtx", NULL},
      [GENERATE_SEQUENCES] = {"ZSTD_generateSequences", NULL},
      [GET_FRAME_CONTENT_SIZE] = {"ZSTD_getFrameContentSize", NULL},
      [GET_PARAMETER] = {"ZSTD_CCtx_getParameter", NULL},
      [IS_ERROR] = {"ZSTD_isError", NULL},
      [SET_PARAMETER] = {"ZSTD_CCtx_setParameter", NULL},
  };
  return original_for_caller(&functions[function].address, functions[function].name, kZstdLibrary,
                             caller);
}

/* While libzstd serves a call that we have looked at: its own calls of exported functions, which go
 * through us on Debian, are parts of that one. */
static __thread __attribute__((tls_model("initial-exec"))) bool inside;

/* False where libzstd is too old to have all that the engine needs. */
static bool find_functions(struct hoist_zstd_library* library, bool compression,
                           const void* caller) {
  library->is_error = (unsigned (*)(size_t))original(IS_ERROR, caller);
  library->find_frame_compressed_size =
      (size_t(*)(const void*, size_t))original(FIND_FRAME_COMPRESSED_SIZE, caller);
  library->get_frame_content_size =
      (unsigned long long (*)(const void*, size_t))original(GET_FRAME_CONTENT_SIZE, caller);
  library->create_dctx = (void* (*)(void))original(CREATE_DCTX, caller);
  library->free_dctx = (size_t(*)(void*))original(FREE_DCTX, caller);
  library->decompress_using_dict =
      (size_t(*)(void*, void*, size_t, const void*, size_t, const void*, size_t))original(
          DECOMPRESS_USING_DICT, caller);
  library->decompress_using_ddict =
      (size_t(*)(void*, void*, size_t, const void*, size_t, const void*))original(
          DECOMPRESS_USING_DDICT, caller);
  const bool found = library->is_error != NULL && library->find_frame_compressed_size != NULL &&
                     library->get_frame_content_size != NULL && library->create_dctx != NULL &&
                     library->free_dctx != NULL && library->decompress_using_dict != NULL &&
                     library->decompress_using_ddict != NULL;
  if (!compression) return found;
  library->create_cctx = (void* (*)(void))original(CREATE_CCTX, caller);
  library->free_cctx = (size_t(*)(void*))original(FREE_CCTX, caller);
  library->get_parameter = (size_t(*)(const void*, int, int*))original(GET_PARAMETER, caller);
  library->set_parameter = (size_t(*)(void*, int, int))original(SET_PARAMETER, caller);
  library->compress2 =
      (size_t(*)(void*, void*, size_t, const void*, size_t))original(COMPRESS2, caller);
  library->compress_bound = (size_t(*)(size_t))original(COMPRESS_BOUND, caller);
  return found && library->create_cctx != NULL && library->free_cctx != NULL &&
         library->get_parameter != NULL && library->set_parameter != NULL &&
         library->compress2 != NULL && library->compress_bound != NULL;
}

static bool is_worth_loading(size_t size) {
  static size_t seen;
  return __atomic_add_fetch(&seen, size, __ATOMIC_RELAXED) >= kWorthLoading;
}

static bool is_large_decompression(size_t capacity, size_t size) {
  return capacity >= kLargeOutput && size >= kLargeInput && !inside;
}

static __attribute__((noinline)) bool decompress_large(const struct hoist_zstd_decompression* call,
                                                       const void* caller, size_t* result) {
  static struct engine_library engine = {.operation = "zstd", .function = "hoist_zstd_decompress"};
  struct hoist_zstd_library library;
  if (!is_worth_loading(call->size) || stack_room() < kEnoughStack) return false;
  hoist_zstd_decompress_function* decompress =
      (hoist_zstd_decompress_function*)engine_function(&engine);
  return decompress != NULL && find_functions(&library, false, caller) &&
         decompress(&library, call, result);
}

static bool is_large_compression(size_t size) { return size >= kLargeCompression && !inside; }

static __attribute__((noinline)) bool compress_large(const struct hoist_zstd_compression* call,
                                                     const void* caller, size_t* result) {
  static struct engine_library engine = {
      .operation = "zstd", .function = "hoist_zstd_compress", .on_request = true};
  struct hoist_zstd_library library;
  hoist_zstd_compress_function* compress = (hoist_zstd_compress_function*)engine_function(&engine);
  if (compress == NULL || stack_room() < kEnoughStack) return false;
  return find_functions(&library, true, caller) && compress(&library, call, result);
}

size_t ZSTD_decompress(void* dst, size_t capacity, const void* src, size_t size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_decompress)* decompress =
      (__typeof__(ZSTD_decompress)*)original(DECOMPRESS, caller);
  if (decompress == NULL) return kNoZstd;
  if (!is_large_decompression(capacity, size)) return decompress(dst, capacity, src, size);
  const struct hoist_zstd_decompression call = {
      .dst = dst, .capacity = capacity, .src = src, .size = size};
  inside = true;
  size_t result;
  if (!decompress_large(&call, caller, &result)) result = decompress(dst, capacity, src, size);
  inside = false;
  return result;
}

size_t ZSTD_decompressDCtx(ZSTD_DCtx* dctx, void* dst, size_t capacity, const void* src,
                           size_t size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_decompressDCtx)* decompress =
      (__typeof__(ZSTD_decompressDCtx)*)original(DECOMPRESS_DCTX, caller);
  if (decompress == NULL) return kNoZstd;
  if (!is_large_decompression(capacity, size)) return decompress(dctx, dst, capacity, src, size);
  const struct hoist_zstd_decompression call = {.dctx = dctx,
                                                .special = is_special_context(dctx),
                                                .dst = dst,
                                                .capacity = capacity,
                                                .src = src,
                                                .size = size};
  inside = true;
  size_t result;
  if (!decompress_large(&call, caller, &result))
    result = decompress(dctx, dst, capacity, src, size);
  inside = false;
  return result;
}

size_t ZSTD_decompress_usingDict(ZSTD_DCtx* dctx, void* dst, size_t capacity, const void* src,
                                 size_t size, const void* dict, size_t dict_size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_decompress_usingDict)* decompress =
      (__typeof__(ZSTD_decompress_usingDict)*)original(DECOMPRESS_USING_DICT, caller);
  if (decompress == NULL) return kNoZstd;
  if (!is_large_decompression(capacity, size)) {
    return decompress(dctx, dst, capacity, src, size, dict, dict_size);
  }
  const struct hoist_zstd_decompression call = {.dctx = dctx,
                                                .special = is_special_context(dctx),
                                                .dst = dst,
                                                .capacity = capacity,
                                                .src = src,
                                                .size = size,
                                                .dict = dict,
                                                .dict_size = dict_size};
  inside = true;
  size_t result;
  if (!decompress_large(&call, caller, &result)) {
    result = decompress(dctx, dst, capacity, src, size, dict, dict_size);
  }
  inside = false;
  return result;
}

size_t ZSTD_decompress_usingDDict(ZSTD_DCtx* dctx, void* dst, size_t capacity, const void* src,
                                  size_t size, const ZSTD_DDict* ddict) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_decompress_usingDDict)* decompress =
      (__typeof__(ZSTD_decompress_usingDDict)*)original(DECOMPRESS_USING_DDICT, caller);
  if (decompress == NULL) return kNoZstd;
  if (!is_large_decompression(capacity, size)) {
    return decompress(dctx, dst, capacity, src, size, ddict);
  }
  const struct hoist_zstd_decompression call = {.dctx = dctx,
                                                .special = is_special_context(dctx),
                                                .dst = dst,
                                                .capacity = capacity,
                                                .src = src,
                                                .size = size,
                                                .ddict = ddict};
  inside = true;
  size_t result;
  if (!decompress_large(&call, caller, &result)) {
    result = decompress(dctx, dst, capacity, src, size, ddict);
  }
  inside = false;
  return result;
}

size_t ZSTD_compress(void* dst, size_t capacity, const void* src, size_t size, int level) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_compress)* compress = (__typeof__(ZSTD_compress)*)original(COMPRESS, caller);
  if (compress == NULL) return kNoZstd;
  if (!is_large_compression(size)) return compress(dst, capacity, src, size, level);
  const struct hoist_zstd_compression call = {
      .level = level, .dst = dst, .capacity = capacity, .src = src, .size = size};
  inside = true;
  size_t result;
  if (!compress_large(&call, caller, &result)) result = compress(dst, capacity, src, size, level);
  inside = false;
  return result;
}

/* As ZSTD_compress(): a context's parameters do not count here. */
size_t ZSTD_compressCCtx(ZSTD_CCtx* cctx, void* dst, size_t capacity, const void* src, size_t size,
                         int level) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_compressCCtx)* compress =
      (__typeof__(ZSTD_compressCCtx)*)original(COMPRESS_CCTX, caller);
  if (compress == NULL) return kNoZstd;
  if (!is_large_compression(size)) return compress(cctx, dst, capacity, src, size, level);
  const struct hoist_zstd_compression call = {
      .level = level, .dst = dst, .capacity = capacity, .src = src, .size = size};
  inside = true;
  size_t result;
  if (!compress_large(&call, caller, &result))
    result = compress(cctx, dst, capacity, src, size, level);
  inside = false;
  return result;
}

size_t ZSTD_compress2(ZSTD_CCtx* cctx, void* dst, size_t capacity, const void* src, size_t size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_compress2)* compress = (__typeof__(ZSTD_compress2)*)original(COMPRESS2, caller);
  if (compress == NULL) return kNoZstd;
  if (!is_large_compression(size)) return compress(cctx, dst, capacity, src, size);
  const struct hoist_zstd_compression call = {.cctx = cctx,
                                              .special = is_special_context(cctx),
                                              .dst = dst,
                                              .capacity = capacity,
                                              .src = src,
                                              .size = size};
  inside = true;
  size_t result;
  if (!compress_large(&call, caller, &result)) result = compress(cctx, dst, capacity, src, size);
  inside = false;
  return result;
}

/* Whether the call gives all of a large frame, in buffers whose positions are sound. */
static bool is_whole_frame(const ZSTD_outBuffer* output, const ZSTD_inBuffer* input,
                           ZSTD_EndDirective end) {
  return end == ZSTD_e_end && input->pos <= input->size && output->pos <= output->size &&
         is_large_compression(input->size - input->pos);
}

size_t ZSTD_compressStream2(ZSTD_CCtx* cctx, ZSTD_outBuffer* output, ZSTD_inBuffer* input,
                            ZSTD_EndDirective end) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_compressStream2)* compress =
      (__typeof__(ZSTD_compressStream2)*)original(COMPRESS_STREAM2, caller);
  if (compress == NULL) return kNoZstd;
  if (!is_whole_frame(output, input, end)) return compress(cctx, output, input, end);
  const struct hoist_zstd_compression call = {.cctx = cctx,
                                              .special = is_special_context(cctx),
                                              .dst = (char*)output->dst + output->pos,
                                              .capacity = output->size - output->pos,
                                              .src = (const char*)input->src + input->pos,
                                              .size = input->size - input->pos};
  inside = true;
  size_t result;
  if (compress_large(&call, caller, &result)) {
    output->pos += result;
    input->pos = input->size;
    result = 0;
  } else {
    result = compress(cctx, output, input, end);
  }
  inside = false;
  return result;
}

/* Has ZSTD_compress2() collect what it finds in the context itself. */
size_t ZSTD_generateSequences(ZSTD_CCtx* cctx, ZSTD_Sequence* sequences, size_t capacity,
                              const void* src, size_t size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(ZSTD_generateSequences)* generate =
      (__typeof__(ZSTD_generateSequences)*)original(GENERATE_SEQUENCES, caller);
  if (generate == NULL) return kNoZstd;
  const bool was_inside = inside;
  inside = true;
  const size_t result = generate(cctx, sequences, capacity, src, size);
  inside = was_inside;
  return result;
}
