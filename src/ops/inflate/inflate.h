/* libhoist_inflate.so: decodes DEFLATE streams (RFC 1951) in place of zlib's inflate(), faster and
 * in the same steps.
 *
 * A stream is zlib's at first: zlib reads its header, and keeps its own state for the stream's
 * whole life. At a boundary between two blocks, where everything that zlib knows about the stream
 * can be learnt by its public functions, our decoder goes on:
 *
 *   struct hoist_inflate_boundary boundary = …;
 *   struct hoist_inflater* ours = hoist_inflate.start(strm, &boundary);
 *   if (ours != NULL) result = hoist_inflate.inflate(&ours, strm, flush);
 *
 * At every return the z_stream holds what zlib would have put there: it takes the same bytes,
 * writes the same bytes, and reports corrupt data at the same place in the same words. The decoder
 * is a state machine with zlib's states, which stops only where zlib stops: when the next step
 * needs input or room that is not there, at the end, and on an error.
 *
 * Streams are independent; one stream belongs to one thread at a time. No threads, no locks held
 * between calls: a child after fork() goes on with its copy of the stream. */
#ifndef HOIST_OPS_INFLATE_INFLATE_H
#define HOIST_OPS_INFLATE_INFLATE_H

#include <stdbool.h>
#include <stdint.h>

#define ZLIB_CONST /* next_in points to what is not changed */
#include <zlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream of ours, between its blocks or anywhere in them. */
struct hoist_inflater;

enum hoist_inflate_format { HOIST_INFLATE_RAW, HOIST_INFLATE_ZLIB, HOIST_INFLATE_GZIP };

/* zlib's own functions. */
struct hoist_inflate_originals {
  int (*inflate)(z_streamp, int);
  int (*inflateGetDictionary)(z_streamp, Bytef*, uInt*);
};

/* A stream of zlib's that stands before a block. */
struct hoist_inflate_boundary {
  enum hoist_inflate_format format;
  bool nothing_read;    /* of a raw stream: it has no header */
  unsigned window_bits; /* 8..15 */
  unsigned bits;        /* of the last byte taken, those not used, the next one lowest */
  unsigned bit_count;   /* 0..7 */
  uint32_t check;       /* of all output: CRC-32, Adler-32, or nothing for raw streams */
  uint32_t total;       /* bytes of output since the last reset */
  /* Bytes of output in this call of inflate(), and whether there were any in earlier ones: after
   * the end, zlib's window tells of it. */
  uInt output_in_call;
  bool output_before;
  const struct hoist_inflate_originals* originals; /* copied */
};

/* In all of these `strm` is the program's, with zlib's own state in it. Results are zlib's. */
struct hoist_inflate_functions {
  /* Null where there is no memory, or the operation was switched off: the stream stays zlib's. */
  struct hoist_inflater* (*start)(z_streamp strm, const struct hoist_inflate_boundary* boundary);
  /* Null afterwards: under --verify, zlib has come to another result, which is the one returned,
   * and its state has kept up, so that the stream is zlib's from now on. */
  int (*inflate)(struct hoist_inflater** inflater, z_streamp strm, int flush);
  void (*end)(struct hoist_inflater* inflater);
  /* Null where there is no memory. */
  struct hoist_inflater* (*copy)(const struct hoist_inflater* inflater);
  int (*set_dictionary)(struct hoist_inflater* inflater, const Bytef* dictionary, uInt size);
  int (*get_dictionary)(struct hoist_inflater* inflater, Bytef* dictionary, uInt* size);
  int (*prime)(struct hoist_inflater* inflater, int bits, int value);
  int (*sync_point)(const struct hoist_inflater* inflater);
  long (*mark)(const struct hoist_inflater* inflater);
  void (*validate)(struct hoist_inflater* inflater, int check);
  /* The bits taken and not used, the next one lowest, and their number, at most 32. */
  uint32_t (*unused_bits)(const struct hoist_inflater* inflater, unsigned* count);
};

extern const struct hoist_inflate_functions hoist_inflate;

#ifdef __cplusplus
}
#endif

#endif
