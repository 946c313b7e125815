/* Model weights that load progressively and end bit-exact. hoist/hoist.h says what holds for all
 * calls: errors, structs with sizes, threads.
 *
 *   hoist_tensors_file* file;
 *   if (hoist_tensors_open("model.holo", NULL, &file) != HOIST_OK) {
 *     fprintf(stderr, "%s\n", hoist_error_message());
 *     return 1;
 *   }
 *   for (size_t i = 0; i < hoist_tensors_count(file); ++i) {
 *     hoist_tensor tensor = {.size = sizeof tensor};
 *     hoist_tensors_describe(file, i, &tensor);
 *     void* elements = malloc(tensor.bytes);
 *     hoist_tensors_read_options options = {.size = sizeof options, .target = 0.99};
 *     double quality;
 *     hoist_tensors_read(file, i, &options, elements, tensor.bytes, &quality);
 *   }
 *   hoist_tensors_close(file);
 *
 * A .holo file holds each tensor as parts. Parts of the encoding "embedded" are layers: each makes
 * the tensor better, and all of them give it back bit for bit. Parts of "spectral", "rph" and
 * "lrdf" are fragments, of which any subset gives an approximation. Tensors that an encoding does
 * not serve are "lossless", in one part. Quality is 1 - |x - x'|^2 / |x|^2 over the finite
 * elements, measured when the file was written.
 *
 * Other files open as well: .safetensors (one, a folder of them, or model.safetensors.index.json),
 * GGUF, .npy and .npz. Their tensors have no parts and the encoding "stored", and are read whole.
 *
 * Files need not be trusted: a damaged or hostile one gives an error, and what it makes the library
 * allocate is bounded by its size (docs/reference/tensors.md). */
#ifndef HOIST_TENSORS_H
#define HOIST_TENSORS_H

#include "hoist/hoist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading ---- */

/* An opened file. Immutable: any number of threads may use one. */
typedef struct hoist_tensors_file hoist_tensors_file;

typedef struct hoist_tensors_open_options {
  size_t size;
  uint64_t max_tensor_bytes; /* larger tensors are HOIST_EXHAUSTED; default 2^40 */
  const uint8_t* root;       /* 32 bytes: the root digest that a .holo file must have (BLAKE3) */
} hoist_tensors_open_options;

hoist_status hoist_tensors_open(const char* path, const hoist_tensors_open_options* options,
                                hoist_tensors_file** file);
void hoist_tensors_close(hoist_tensors_file* file);

/* 0 of null. */
size_t hoist_tensors_count(const hoist_tensors_file* file);
/* The number of the tensor of that name. */
hoist_status hoist_tensors_find(const hoist_tensors_file* file, const char* name, size_t* tensor);

/* Pointers stay valid until the file is closed. */
typedef struct hoist_tensor {
  size_t size;
  const char* name;
  const char* dtype;     /* as safetensors writes it: "BF16", "F8_E4M3"; and "C128" */
  const uint64_t* shape; /* `rank` extents; row-major, little-endian elements */
  size_t rank;
  uint64_t bytes;        /* of the elements */
  const char* encoding;  /* "embedded", "spectral", "rph", "lrdf", "lossless", "stored" */
  size_t parts;          /* layers or fragments; 0 of "stored" */
  int any_subset;        /* 1: parts are fragments */
  const char* stored_as; /* of bytes that are no numbers what they are: a quantised type of GGUF
                            ("Q4_K"), a type that is not known ("GGUF type 99"), an array of a type
                            that only NumPy has ("numpy:<U5": the last extent counts the bytes of an
                            element); else empty */
} hoist_tensor;

hoist_status hoist_tensors_describe(const hoist_tensors_file* file, size_t tensor,
                                    hoist_tensor* description);

typedef struct hoist_tensor_part {
  size_t size;
  uint64_t bytes; /* of this part as stored */
  double quality; /* of parts 0 to this one together */
  double cosine;  /* of the angle between the tensor and what they give */
  double share;   /* fragments: what this one adds, as a share of |x|^2; layers: 0 */
} hoist_tensor_part;

hoist_status hoist_tensors_part(const hoist_tensors_file* file, size_t tensor, size_t part,
                                hoist_tensor_part* description);

/* What to read of each tensor: everything, or what one of the first four says. */
typedef struct hoist_tensors_read_options {
  size_t size;
  double target;           /* the fewest parts whose measured quality reaches it; 0 to 1 */
  size_t layers;           /* the first so many parts, or all where there are fewer */
  const size_t* fragments; /* these, of tensors that have fragments; others whole */
  size_t fragment_count;
  const char* const* policy; /* by name: "attention.*=0.999", "*mlp*=0.95@10" (@: priority) ... */
  size_t policy_count;       /* ... and `target`, if set, of names that no rule matches */
  int skip_damaged;          /* 1: go on without parts that cannot be read ... */
  double min_quality;        /* ... as long as each tensor reaches this (0: none is
                                asked for); else HOIST_CORRUPT */
  unsigned threads;          /* at most so many for this call */
  hoist_progress_function* progress; /* of calls that read several tensors */
  void* progress_context;
  hoist_cancellation* cancellation; /* asked before each tensor */
  int replace;                      /* hoist_tensors_unpack(): as below */
} hoist_tensors_read_options;

/* The elements of one tensor; `bytes` is exactly hoist_tensor.bytes. `quality`, which is optional,
 * is that of what was read. After an error the memory's content is unspecified. Memory besides: the
 * stored parts and what decoding needs, a small multiple of the tensor's size. */
hoist_status hoist_tensors_read(const hoist_tensors_file* file, size_t tensor,
                                const hoist_tensors_read_options* options, void* elements,
                                uint64_t bytes, double* quality);
/* All of them: `elements`, `bytes` and the optional `qualities` have hoist_tensors_count() entries.
 * An entry of `elements` may be null: that tensor is left out, with a quality of 0. */
hoist_status hoist_tensors_read_all(const hoist_tensors_file* file,
                                    const hoist_tensors_read_options* options,
                                    void* const* elements, const uint64_t* bytes,
                                    double* qualities);

/* ---- Loading onto a device ---- */

/* All tensors of a file in the memory of a device. Immutable. */
typedef struct hoist_tensors_model hoist_tensors_model;

typedef struct hoist_tensors_load_options {
  size_t size;
  double target;             /* as above */
  const char* const* policy; /* as above */
  size_t policy_count;
  hoist_progress_function* progress; /* called on a thread of the library's */
  void* progress_context;
  hoist_cancellation* cancellation;
} hoist_tensors_load_options;

/* `device`: "cpu", "cuda:0" (a number), "cuda" (the first), "auto" (the first, else the CPU). What
 * is stored is copied, and decoded on the device behind the copies, faster than the link would
 * carry the elements (docs/design/tensors-gpu.md). When it returns, everything is there: no stream
 * has to be waited for. HOIST_UNAVAILABLE: no such device, driver or plug-in (libhoist_cuda.so
 * beside libhoist.so); the message says which. */
hoist_status hoist_tensors_load(const hoist_tensors_file* file, const char* device,
                                const hoist_tensors_load_options* options,
                                hoist_tensors_model** model);
/* Frees the memory. The work that reads it must be done. The file may be closed before. */
void hoist_tensors_model_free(hoist_tensors_model* model);

/* "cpu" or "cuda:0"; null of null. */
const char* hoist_tensors_model_device(const hoist_tensors_model* model);

typedef struct hoist_device_tensor {
  size_t size;
  void* data; /* on the device, aligned to 256 bytes, for the model's lifetime */
  uint64_t bytes;
  double quality;
  size_t parts; /* that it was decoded from */
} hoist_device_tensor;

/* Tensors are numbered as in the file. */
hoist_status hoist_tensors_model_tensor(const hoist_tensors_model* model, size_t tensor,
                                        hoist_device_tensor* description);
/* Copies a tensor to host memory of `bytes` bytes, exactly its size. */
hoist_status hoist_tensors_model_download(const hoist_tensors_model* model, size_t tensor,
                                          void* elements, uint64_t bytes);

/* ---- Writing ---- */

typedef struct hoist_tensors_write_options {
  size_t size;
  const char* encoding;   /* "embedded" (default), "spectral", "rph", "lrdf", "lossless" */
  const char* order;      /* "layer" (default: all tensors usable early), "tensor" */
  const char* precision;  /* of fragments' coefficients: "F32", "F16", "BF16"; default by dtype */
  uint32_t fragments;     /* of "spectral", "rph", "lrdf", and shards of a group; default 8 */
  uint32_t parity;        /* shards of each group that may be lost; fragments + parity <= 255 */
  uint64_t seed;          /* of permutations and projections */
  uint32_t max_rank;      /* of "lrdf"; default 256 */
  double essential_share; /* of "spectral": lowest frequencies in every fragment; default 0.02 */
  int digests;            /* 1: with a root digest, for sources that are not trusted */
  int volatile_output;    /* 1: return before the file is safe from a power cut */
  unsigned threads;       /* at most so many */
  hoist_progress_function* progress; /* of finishing and of packing */
  void* progress_context;
  hoist_cancellation* cancellation;
  int replace; /* 1: a file that has the output's name is replaced; else it is refused with
                  HOIST_INVALID_ARGUMENT, as an input is in any case */
} hoist_tensors_write_options;

/* A file that is being written. One thread at a time. Nothing appears under its name until
 * hoist_tensors_writer_finish() has succeeded, and nothing is left behind otherwise. The same
 * tensors and options give the same bytes. After an error only freeing it is useful. */
typedef struct hoist_tensors_writer hoist_tensors_writer;

/* A file that comes to be at `path` meanwhile is refused by hoist_tensors_writer_finish(). */
hoist_status hoist_tensors_writer_create(const char* path,
                                         const hoist_tensors_write_options* options,
                                         hoist_tensors_writer** writer);
/* Encodes a tensor; `elements` may go afterwards. `bytes` is the product of the extents and the
 * element's size; rank 0 is one element. */
hoist_status hoist_tensors_writer_add(hoist_tensors_writer* writer, const char* name,
                                      const char* dtype, const uint64_t* shape, size_t rank,
                                      const void* elements, uint64_t bytes);
/* `root`, which is optional, takes the 32 bytes of the root digest, zeros without digests. */
hoist_status hoist_tensors_writer_finish(hoist_tensors_writer* writer, uint8_t* root);
void hoist_tensors_writer_free(hoist_tensors_writer* writer);

/* Model files, or one folder, into a .holo file, from which hoist_tensors_unpack() makes them again
 * byte for byte. Progress counts bytes of tensors, then once more the bytes of the output. */
hoist_status hoist_tensors_pack(const char* const* inputs, size_t count, const char* output,
                                const hoist_tensors_write_options* options);
/* The file that was packed, or a .safetensors of all tensors where `output` ends so and another
 * kind or several files were packed. With less than everything read, elements are approximations.
 */
hoist_status hoist_tensors_unpack(const char* input, const char* output,
                                  const hoist_tensors_read_options* options);

/* ---- Damage ---- */

typedef struct hoist_tensors_check_options {
  size_t size;
  hoist_progress_function* progress;
  void* progress_context;
  hoist_cancellation* cancellation;
  int replace; /* hoist_tensors_repair(): as above */
} hoist_tensors_check_options;

typedef struct hoist_tensors_check {
  size_t size;
  int ok;         /* 1: every byte is as it was written */
  int repairable; /* 1: ok, or hoist_tensors_repair() can mend it */
  uint64_t bytes; /* of the file */
  uint64_t shards;
  uint64_t lost_shards;
  uint64_t lost_tensors; /* that need a shard which parity cannot give back */
  uint64_t damages;      /* places that are not as they were written */
} hoist_tensors_check;

/* Reads a .holo file and finds every byte that differs from what was written. Damage is no error:
 * `check` says of it. */
hoist_status hoist_tensors_verify(const char* path, const hoist_tensors_check_options* options,
                                  hoist_tensors_check* check);
/* Writes the file as it was to `output`, which may be `path`: that is replaced, in any case, when
 * the new one is whole. HOIST_CORRUPT where more is lost than parity gives back; then nothing was
 * written. `repaired`, which is optional, is the number of shards that were mended. */
hoist_status hoist_tensors_repair(const char* path, const char* output,
                                  const hoist_tensors_check_options* options, uint64_t* repaired);

#ifdef __cplusplus
}
#endif

#endif
