/* Functions of libzstd that give a context what it cannot be asked about afterwards. Ours note the
 * context (zstd_contexts.h) and call libzstd's. */
#define ZSTD_STATIC_LINKING_ONLY
#define ZSTD_DISABLE_DEPRECATE_WARNINGS
#include <zstd.h>

#include "intercept/caller_scope.h"
#include "intercept/zstd.h"
#include "intercept/zstd_contexts.h"

/* Defines `name`. A macro, since every function has parameters of its own, to be passed on as they
 * are. `special`: whether the context is to be noted, since null dictionaries take one away. */
#define SETTER(name, context, special, parameters, arguments)            \
  size_t name parameters {                                               \
    static void* slot;                                                   \
    __typeof__(name)* original = (__typeof__(name)*)original_for_caller( \
        &slot, #name, kZstdLibrary, __builtin_return_address(0));        \
    if (special) note_special_context(context);                          \
    return original != NULL ? original arguments : kNoZstd;              \
  }

/* clang-format off */
SETTER(ZSTD_DCtx_loadDictionary, dctx, dict != NULL,
       (ZSTD_DCtx* dctx, const void* dict, size_t size), (dctx, dict, size))
SETTER(ZSTD_DCtx_loadDictionary_byReference, dctx, dict != NULL,
       (ZSTD_DCtx* dctx, const void* dict, size_t size), (dctx, dict, size))
SETTER(ZSTD_DCtx_loadDictionary_advanced, dctx, dict != NULL,
       (ZSTD_DCtx* dctx, const void* dict, size_t size, ZSTD_dictLoadMethod_e method,
        ZSTD_dictContentType_e type),
       (dctx, dict, size, method, type))
SETTER(ZSTD_DCtx_refDDict, dctx, ddict != NULL,
       (ZSTD_DCtx* dctx, const ZSTD_DDict* ddict), (dctx, ddict))
SETTER(ZSTD_DCtx_refPrefix, dctx, prefix != NULL,
       (ZSTD_DCtx* dctx, const void* prefix, size_t size), (dctx, prefix, size))
SETTER(ZSTD_DCtx_refPrefix_advanced, dctx, prefix != NULL,
       (ZSTD_DCtx* dctx, const void* prefix, size_t size, ZSTD_dictContentType_e type),
       (dctx, prefix, size, type))
SETTER(ZSTD_initDStream_usingDict, dctx, dict != NULL,
       (ZSTD_DStream* dctx, const void* dict, size_t size), (dctx, dict, size))
SETTER(ZSTD_initDStream_usingDDict, dctx, ddict != NULL,
       (ZSTD_DStream* dctx, const ZSTD_DDict* ddict), (dctx, ddict))
SETTER(ZSTD_DCtx_setFormat, dctx, format != ZSTD_f_zstd1,
       (ZSTD_DCtx* dctx, ZSTD_format_e format), (dctx, format))
/* The size of the window counts for streams only. */
SETTER(ZSTD_DCtx_setParameter, dctx, parameter != ZSTD_d_windowLogMax && value != 0,
       (ZSTD_DCtx* dctx, ZSTD_dParameter parameter, int value), (dctx, parameter, value))

SETTER(ZSTD_CCtx_loadDictionary, cctx, dict != NULL,
       (ZSTD_CCtx* cctx, const void* dict, size_t size), (cctx, dict, size))
SETTER(ZSTD_CCtx_loadDictionary_byReference, cctx, dict != NULL,
       (ZSTD_CCtx* cctx, const void* dict, size_t size), (cctx, dict, size))
SETTER(ZSTD_CCtx_loadDictionary_advanced, cctx, dict != NULL,
       (ZSTD_CCtx* cctx, const void* dict, size_t size, ZSTD_dictLoadMethod_e method,
        ZSTD_dictContentType_e type),
       (cctx, dict, size, method, type))
SETTER(ZSTD_CCtx_refCDict, cctx, cdict != NULL,
       (ZSTD_CCtx* cctx, const ZSTD_CDict* cdict), (cctx, cdict))
SETTER(ZSTD_CCtx_refPrefix, cctx, prefix != NULL,
       (ZSTD_CCtx* cctx, const void* prefix, size_t size), (cctx, prefix, size))
SETTER(ZSTD_CCtx_refPrefix_advanced, cctx, prefix != NULL,
       (ZSTD_CCtx* cctx, const void* prefix, size_t size, ZSTD_dictContentType_e type),
       (cctx, prefix, size, type))
SETTER(ZSTD_CCtx_refThreadPool, cctx, pool != NULL,
       (ZSTD_CCtx* cctx, ZSTD_threadPool* pool), (cctx, pool))
SETTER(ZSTD_CCtx_setPledgedSrcSize, cctx, size != ZSTD_CONTENTSIZE_UNKNOWN,
       (ZSTD_CCtx* cctx, unsigned long long size), (cctx, size))
SETTER(ZSTD_initCStream_srcSize, cctx, size != ZSTD_CONTENTSIZE_UNKNOWN,
       (ZSTD_CStream* cctx, int level, unsigned long long size), (cctx, level, size))
SETTER(ZSTD_initCStream_usingDict, cctx, dict != NULL,
       (ZSTD_CStream* cctx, const void* dict, size_t size, int level), (cctx, dict, size, level))
SETTER(ZSTD_initCStream_advanced, cctx, true,
       (ZSTD_CStream* cctx, const void* dict, size_t size, ZSTD_parameters parameters,
        unsigned long long content),
       (cctx, dict, size, parameters, content))
SETTER(ZSTD_initCStream_usingCDict, cctx, cdict != NULL,
       (ZSTD_CStream* cctx, const ZSTD_CDict* cdict), (cctx, cdict))
SETTER(ZSTD_initCStream_usingCDict_advanced, cctx, true,
       (ZSTD_CStream* cctx, const ZSTD_CDict* cdict, ZSTD_frameParameters parameters,
        unsigned long long content),
       (cctx, cdict, parameters, content))
SETTER(ZSTD_resetCStream, cctx, size != 0,
       (ZSTD_CStream* cctx, unsigned long long size), (cctx, size))
/* clang-format on */

void ZSTD_copyDCtx(ZSTD_DCtx* to, const ZSTD_DCtx* from) {
  static void* slot;
  __typeof__(ZSTD_copyDCtx)* original = (__typeof__(ZSTD_copyDCtx)*)original_for_caller(
      &slot, "ZSTD_copyDCtx", kZstdLibrary, __builtin_return_address(0));
  note_special_context(to);
  if (original != NULL) original(to, from);
}

/* Under a name of ours in C, since the type of `producer` differs among versions of the header. */
__attribute__((visibility("default"))) void register_sequence_producer(
    ZSTD_CCtx* cctx, void* state, void* producer) __asm__("ZSTD_registerSequenceProducer");

void register_sequence_producer(ZSTD_CCtx* cctx, void* state, void* producer) {
  static void* slot;
  __typeof__(register_sequence_producer)* original =
      (__typeof__(register_sequence_producer)*)original_for_caller(
          &slot, "ZSTD_registerSequenceProducer", kZstdLibrary, __builtin_return_address(0));
  note_special_context(cctx);
  if (original != NULL) original(cctx, state, producer);
}
