/* zlib's checksums: large buffers go to libhoist_crc32.so. A function of another library that
 * merely has the same name is called as it would have been. */
#include "ops/crc32/crc32.h"

#include "intercept/caller_scope.h"
#include "intercept/engine_library.h"
#include "intercept/plain_checksums.h"
#include "intercept/zlib_identity.h"

enum {
  /* Bytes from which on counting the call vanishes beside what zlib would take. */
  kLarge = 8 << 10,
  /* Bytes of such buffers that a program has to have summed before the engine is loaded, which
   * takes 0.3 ms; zlib takes 1 ms for so many. */
  kWorthLoading = 4 << 20,
};

static const struct hoist_checksum_functions* find_engine(size_t size) {
  static size_t seen;
  static struct engine_library engine = {.operation = "crc32", .function = "hoist_crc32"};
  if (__atomic_add_fetch(&seen, size, __ATOMIC_RELAXED) < kWorthLoading) return NULL;
  return engine_function(&engine);
}

/* What a family member is called, and what is known of it. */
struct checksum {
  const char* name;
  bool is_crc32;
  void* original; /* where the global search order leads */
  struct zlib_identity identity;
};

/* crc32() and adler32() are crc32_z() and adler32_z() with a narrower size. */
static __attribute__((noinline)) uLong sum_large(struct checksum* checksum,
                                                 hoist_original_checksum* original, uLong before,
                                                 const Bytef* data, size_t size) {
  uLong result;
  const struct hoist_checksum_functions* engine = find_engine(size);
  if (engine == NULL) return original(before, data, size);
  hoist_checksum_function* sum = checksum->is_crc32 ? engine->crc32 : engine->adler32;
  return sum(before, data, size, original, &result) ? result : original(before, data, size);
}

/* The registers of a call, all that one may have: a library's own function of such a name may take
 * more arguments, or wider ones, than zlib's, and gets them as they came. */
typedef uLong raw_function(uLong, const Bytef*, size_t, long, long, long);

/* `size` is zlib's, of `length` as it came. */
static inline uLong sum(struct checksum* checksum, uLong before, const Bytef* data, size_t length,
                        size_t size, long d, long e, long f, const void* caller) {
  void* original = original_for_caller(&checksum->original, checksum->name, "libz.so.1", caller);
  if (original == NULL) { /* a weak reference, and no zlib */
    return checksum->is_crc32 ? plain_crc32(before, data, size) : plain_adler32(before, data, size);
  }
  if (size >= kLarge && data != NULL && is_zlibs(original, &checksum->identity)) {
    return sum_large(checksum, (hoist_original_checksum*)original, before, data, size);
  }
  return ((raw_function*)original)(before, data, length, d, e, f);
}

/* Declared by zlib.h with three arguments. */
raw_function raw_crc32 __asm__("crc32");
raw_function raw_crc32_z __asm__("crc32_z");
raw_function raw_adler32 __asm__("adler32");
raw_function raw_adler32_z __asm__("adler32_z");

__attribute__((visibility("default"))) uLong raw_crc32_z(uLong crc, const Bytef* data, size_t size,
                                                         long d, long e, long f) {
  static struct checksum checksum = {.name = "crc32_z", .is_crc32 = true};
  return sum(&checksum, crc, data, size, size, d, e, f, __builtin_return_address(0));
}

__attribute__((visibility("default"))) uLong raw_crc32(uLong crc, const Bytef* data, size_t size,
                                                       long d, long e, long f) {
  static struct checksum checksum = {.name = "crc32", .is_crc32 = true};
  return sum(&checksum, crc, data, size, (uInt)size, d, e, f, __builtin_return_address(0));
}

__attribute__((visibility("default"))) uLong raw_adler32_z(uLong adler, const Bytef* data,
                                                           size_t size, long d, long e, long f) {
  static struct checksum checksum = {.name = "adler32_z"};
  return sum(&checksum, adler, data, size, size, d, e, f, __builtin_return_address(0));
}

__attribute__((visibility("default"))) uLong raw_adler32(uLong adler, const Bytef* data,
                                                         size_t size, long d, long e, long f) {
  static struct checksum checksum = {.name = "adler32"};
  return sum(&checksum, adler, data, size, (uInt)size, d, e, f, __builtin_return_address(0));
}
