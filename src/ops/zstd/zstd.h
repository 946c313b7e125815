/* libhoist_zstd.so: one large call of libzstd, done over several cores with libzstd's own
 * functions.
 *
 * Decompression. Input of several frames whose headers tell their sizes is cut between frames, and
 * the pieces are decompressed at the same time, each into its own part of the output. Every piece
 * is decoded by the program's own libzstd, so that what is accepted, and the bytes, are the same.
 * Anything unexpected, a damaged frame first of all, ends with "false": the original then does the
 * whole call, and the error, and the state of the context, are its own.
 *
 * Compression, only where it was asked for, because the bytes differ from the original's though the
 * content is the same: libzstd's own multi-threaded compression, on a context of ours that has the
 * parameters of the caller's.
 *
 *   size_t result;
 *   if (hoist_zstd_decompress(&library, &call, &result)) return result;
 *   return ZSTD_decompressDCtx(…);
 *
 * Any thread may call, several at once, also in a child after fork(); not in a signal handler and
 * not in a vfork() child. errno is kept, signals are held back meanwhile, no thread of ours is left
 * after the call, and no fault is taken on one of them (base/caller_memory.h). */
#ifndef HOIST_OPS_ZSTD_ZSTD_H
#define HOIST_OPS_ZSTD_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the program's libzstd, as <zstd.h> declares them; contexts and dictionaries are
 * opaque here, as there. Those of compression may be null where the library has none. */
struct hoist_zstd_library {
  unsigned (*is_error)(size_t code);
  size_t (*find_frame_compressed_size)(const void* src, size_t size);
  unsigned long long (*get_frame_content_size)(const void* src, size_t size);
  void* (*create_dctx)(void);
  size_t (*free_dctx)(void* dctx);
  size_t (*decompress_using_dict)(void* dctx, void* dst, size_t capacity, const void* src,
                                  size_t size, const void* dict, size_t dict_size);
  size_t (*decompress_using_ddict)(void* dctx, void* dst, size_t capacity, const void* src,
                                   size_t size, const void* ddict);
  void* (*create_cctx)(void);
  size_t (*free_cctx)(void* cctx);
  size_t (*get_parameter)(const void* cctx, int parameter, int* value);
  size_t (*set_parameter)(void* cctx, int parameter, int value);
  size_t (*compress2)(void* cctx, void* dst, size_t capacity, const void* src, size_t size);
  size_t (*compress_bound)(size_t size);
};

struct hoist_zstd_decompression {
  void* dctx;   /* null: libzstd makes one */
  bool special; /* it may hold a dictionary or settings: only to be counted */
  void* dst;
  size_t capacity;
  const void* src;
  size_t size;
  const void* dict; /* content of a dictionary, or null */
  size_t dict_size;
  const void* ddict; /* a digested one, or null; not both */
};

/* Whether it is done: `*result` is then what the original would return, and `dctx` is in the state
 * in which the original would leave it. False: `dst` holds anything, `dctx` nothing that the
 * original's next decompression would not replace. */
typedef bool hoist_zstd_decompress_function(const struct hoist_zstd_library* library,
                                            const struct hoist_zstd_decompression* call,
                                            size_t* result);

struct hoist_zstd_compression {
  void* cctx;   /* null: `level` is all that counts */
  bool special; /* it may hold a dictionary, a prefix or a promised size: only to be counted */
  int level;
  void* dst;
  size_t capacity;
  const void* src;
  size_t size;
};

/* Whether it is done: a frame lies at `dst`, `*result` bytes long. `cctx` is only read. */
typedef bool hoist_zstd_compress_function(const struct hoist_zstd_library* library,
                                          const struct hoist_zstd_compression* call,
                                          size_t* result);

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
hoist_zstd_decompress_function hoist_zstd_decompress;
hoist_zstd_compress_function hoist_zstd_compress;
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
