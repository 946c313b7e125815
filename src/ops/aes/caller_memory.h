// The buffers of a call, made ready for other threads to work in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::aes {

// Touches every page, so that a fault in the caller's memory is taken here, on the caller's thread:
// programs handle them (garbage collectors, files mapped and cut off meanwhile). Output that has no
// pages yet, as fresh memory has none, gets them from `lanes` threads at once: for one thread that
// takes longer than to fill them.
void touch_pages(const uint8_t* in, uint8_t* out, size_t size, size_t lanes);

// The same, by the caller alone and only in a program that has handlers for faults: one may leave
// the call by siglongjmp(), so this comes before anything that the call must undo.
void take_watched_faults(const uint8_t* in, uint8_t* out, size_t size);

}  // namespace hoist::aes
