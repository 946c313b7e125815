#include "ops/aes/caller_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "base/caller_memory.h"
#include "ops/aes/lanes.h"

namespace hoist::aes {
namespace {

constexpr size_t kPage = 4096;

// Whole pages around a range.
struct Pages {
  Pages(uint8_t* data, size_t size)
      : first(data - reinterpret_cast<uintptr_t>(data) % kPage),
        count((data + size - first + kPage - 1) / kPage) {}

  uint8_t* first;
  size_t count;
};

// How many are not there. What mincore(2) tells of memory that is mapped from a file is whether the
// file is cached; those pages are cheap to get.
size_t missing(const Pages& pages) {
  const std::unique_ptr<unsigned char[]> present(new (std::nothrow) unsigned char[pages.count]);
  if (present == nullptr || ::mincore(pages.first, pages.count * kPage, present.get()) != 0) {
    return 0;
  }
  return static_cast<size_t>(std::count_if(present.get(), present.get() + pages.count,
                                           [](unsigned char state) { return (state & 1) == 0; }));
}

// MADV_POPULATE_WRITE (Linux 5.14) takes faults without signals. Pages that cannot be had, or
// kernels that do not know it, leave the fault to touch_pages().
void populate(const Pages& pages, size_t lanes) {
#ifdef MADV_POPULATE_WRITE
  constexpr size_t kPiece = 128;
  std::atomic<size_t> next = 0;
  for_each_lane(lanes, [&](size_t) {
    for (size_t i = next.fetch_add(kPiece); i < pages.count; i = next.fetch_add(kPiece)) {
      const size_t count = std::min(kPiece, pages.count - i);
      if (::madvise(pages.first + i * kPage, count * kPage, MADV_POPULATE_WRITE) != 0) return;
    }
  });
#endif
}

}  // namespace

void touch_pages(const uint8_t* in, uint8_t* out, size_t size, size_t lanes) {
  // Below that, other threads are not worth their start.
  constexpr size_t kManyPages = 256;
  const Pages pages(out, size);
  if (pages.count >= kManyPages && missing(pages) >= kManyPages) populate(pages, lanes);
  // Prefetches, which never fault, let the misses of many pages overlap.
  constexpr size_t kAhead = 24 * kPage;
  const auto touch = [](const uint8_t* read, uint8_t* written) {
    (void)*static_cast<const volatile uint8_t*>(read);
    volatile uint8_t* const byte = written;
    *byte = *byte;
  };
  for (size_t at = 0; at < size; at += kPage) {
    const size_t ahead = std::min(at + kAhead, size - 1);
    __builtin_prefetch(in + ahead, 0);
    __builtin_prefetch(out + ahead, 1);
    touch(in + at, out + at);
  }
  if (size > 0) touch(in + size - 1, out + size - 1);
}

void take_watched_faults(const uint8_t* in, uint8_t* out, size_t size) {
  if (CallerMemory().watched()) touch_pages(in, out, size, 1);
}

}  // namespace hoist::aes
