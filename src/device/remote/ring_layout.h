/* What a program and hoistd share: one piece of memory that the program makes, seals and sends over
 * hoistd's socket, and the messages on that socket. All numbers are little-endian; every structure
 * has a fixed size and no padding, so that a kernel module can use the same requests.
 *
 *   0            header                    what it is; for people and core files, never trusted
 *   4096         queue 0: tail, doorbell, HOIST_RING_ENTRIES entries
 *   4096 + L     queue 1 ...                L = sizeof(struct hoist_ring_queue), a page multiple
 *   pool_offset  pool                      the bytes that copies read and write
 *
 * A queue is served in order, by one thread and one stream of the daemon. Entry
 * number s (its sequence, from 1) lies in entries[s % HOIST_RING_ENTRIES]. The client fills the
 * request, stores s in `tail` (release), increments `doorbell` and wakes its futex. The daemon
 * copies the request once, checks it against what it knows itself, runs it, fills the completion,
 * stores s in `completed` (release) and wakes that futex where `waiting` is set. An entry may be
 * filled again once `completed` holds its sequence.
 *
 * Neither side believes the other: sequences, positions and sizes are kept in private memory, and
 * what is read here is checked against them. */
#ifndef HOIST_DEVICE_REMOTE_RING_LAYOUT_H
#define HOIST_DEVICE_REMOTE_RING_LAYOUT_H

#include <stdint.h>

#define HOIST_RING_MAGIC 0x31474e4952534f48ull /* "HOSRING1" */

enum {
  HOIST_RING_VERSION = 1,        /* this header's */
  HOIST_RING_OLDEST_VERSION = 1, /* the oldest that this daemon and client still speak */
  HOIST_RING_ENTRIES = 64,       /* requests in flight in a queue */
  HOIST_RING_MAX_QUEUES = 4,
  HOIST_RING_MAX_RANGES = 4,
  HOIST_RING_MAX_ARGUMENTS = 16,
  HOIST_RING_PAGE = 4096,
  HOIST_RING_NAME_BYTES = 64,
  HOIST_RING_TEXT_BYTES = 192
};

/* Requests. A number is never given to another one; from HOIST_REQUEST_FIRST_SERVED on
 * they are those of the daemon's registry (device/remote/served_operation.h). */
enum hoist_request_kind {
  HOIST_REQUEST_NONE = 0,     /* answers: for round trips */
  HOIST_REQUEST_ALLOCATE = 1, /* argument 0: bytes; result: buffer number; its bytes are zero */
  HOIST_REQUEST_FREE = 2,     /* argument 0: buffer number */
  HOIST_REQUEST_COPY = 3,     /* range 0 to range 1, of one length; either may be in the pool */
  HOIST_REQUEST_FILL = 4,     /* range 0 with argument 0, a byte */
  HOIST_REQUEST_FIRST_SERVED = 64,
  HOIST_REQUEST_GEMM = 64,       /* src/ops/gemm/served_gemm.h */
  HOIST_REQUEST_RADIX_SORT = 65, /* src/device/radix_sort/served_radix_sort.h */
  HOIST_REQUEST_SHA256 = 66,     /* src/ops/hash/gpu/served_sha256.h */
};

/* How a request ended; what a message says is for people. */
enum hoist_ring_status {
  HOIST_RING_OK = 0,
  HOIST_RING_INVALID = 1,     /* a number in it is impossible; nothing was done */
  HOIST_RING_NOT_FOUND = 2,   /* no such buffer of this client */
  HOIST_RING_UNSUPPORTED = 3, /* no such operation, or not on this device */
  HOIST_RING_EXHAUSTED = 4,   /* out of memory, or of what one client may have */
  HOIST_RING_CANCELLED = 5,   /* its deadline passed before it was begun; nothing was done */
  HOIST_RING_UNAVAILABLE = 6, /* the device is lost, or the daemon stops */
  HOIST_RING_INTERNAL = 7
};

/* `length` bytes at `offset` of a buffer; buffer 0 is the pool. */
struct hoist_range {
  uint64_t buffer;
  uint64_t offset;
  uint64_t length;
};

struct hoist_request {
  uint64_t sequence;    /* the entry's, again: an entry that was not filled is found out */
  uint64_t deadline_ns; /* CLOCK_MONOTONIC; not begun afterwards; 0: none */
  uint32_t operation;
  uint16_t range_count;
  uint16_t argument_count;
  struct hoist_range ranges[HOIST_RING_MAX_RANGES];
  uint64_t arguments[HOIST_RING_MAX_ARGUMENTS];
  uint64_t reserved; /* 0 */
};

struct hoist_completion {
  uint32_t completed; /* low half of the sequence; a futex */
  uint32_t waiting;   /* written by the client: 1 while somebody sleeps */
  uint32_t status;
  uint32_t reserved; /* 0 */
  uint64_t result;
  uint64_t
      device_ns; /* until its end, in the daemon, from when it was put behind those before it */
  uint8_t spare[32];
};

struct hoist_ring_entry {
  struct hoist_request request;
  struct hoist_completion completion;
};

struct hoist_ring_queue {
  uint64_t tail; /* sequence of the last entry filled */
  uint8_t pad0[56];
  uint32_t doorbell; /* a futex; changes with every submission */
  uint32_t sleeping; /* written by the daemon: 1 while it waits for the doorbell */
  uint8_t pad1[56];
  struct hoist_ring_entry entries[HOIST_RING_ENTRIES];
  uint8_t pad2[3968];
};

struct hoist_ring_header {
  uint64_t magic;
  uint32_t version;
  uint32_t queues;
  uint64_t pool_offset;
  uint64_t pool_size;
};

/* Messages on the socket (SOCK_SEQPACKET, one message a packet). The client speaks first. */
enum hoist_message_type {
  HOIST_MESSAGE_HELLO = 1,   /* client; the memory's descriptor travels with it (SCM_RIGHTS) */
  HOIST_MESSAGE_WELCOME = 2, /* daemon: the rings are served from now on */
  HOIST_MESSAGE_REFUSED = 3, /* daemon: why not; it closes */
  HOIST_MESSAGE_GOODBYE = 4, /* daemon: it ends this session, why; it closes */
  HOIST_MESSAGE_STATUS = 5   /* client, instead of hello; the answer is JSON and the end */
};

struct hoist_message {
  uint64_t magic;
  uint32_t type;
  uint32_t version;        /* hello: newest the client speaks; welcome: chosen; refused: newest */
  uint32_t oldest_version; /* hello, refused: oldest spoken */
  uint32_t queues;         /* hello */
  uint64_t pool_size;      /* hello; refused: one that would be taken now; 0: the pool is not why */
  uint64_t device_memory;  /* welcome: bytes of the device */
  uint64_t memory_limit;   /* welcome: device memory that this client may have at once */
  uint32_t device_kind;    /* welcome: 0 the CPU, 1 a GPU; the rest as in DeviceProperties */
  uint32_t compute_major;
  uint32_t compute_minor;
  uint32_t multiprocessors;
  char name[HOIST_RING_NAME_BYTES]; /* hello: program; welcome: device. NUL-padded */
  char text[HOIST_RING_TEXT_BYTES]; /* refused, goodbye: why. NUL-padded */
};

/* Where things are in the shared memory. */
static inline uint64_t hoist_ring_queue_offset(uint32_t queue) {
  return HOIST_RING_PAGE + queue * sizeof(struct hoist_ring_queue);
}
static inline uint64_t hoist_ring_pool_offset(uint32_t queues) {
  return hoist_ring_queue_offset(queues);
}

#ifdef __cplusplus
#define HOIST_RING_CHECK(condition) static_assert(condition, #condition)
#else
#define HOIST_RING_CHECK(condition) _Static_assert(condition, #condition)
#endif
HOIST_RING_CHECK(sizeof(struct hoist_request) == 256);
HOIST_RING_CHECK(sizeof(struct hoist_completion) == 64);
HOIST_RING_CHECK(sizeof(struct hoist_ring_entry) == 320);
HOIST_RING_CHECK(sizeof(struct hoist_ring_queue) % HOIST_RING_PAGE == 0);
HOIST_RING_CHECK(sizeof(struct hoist_ring_header) <= HOIST_RING_PAGE);
HOIST_RING_CHECK(sizeof(struct hoist_message) == 320);
HOIST_RING_CHECK((HOIST_RING_ENTRIES & (HOIST_RING_ENTRIES - 1)) == 0);

#endif
