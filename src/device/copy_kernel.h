// A copy kernel: work on a stream of a device that stays there and moves pieces between pinned
// slots and memory of the device, each as soon as the host has posted it, until it is told to end.
//
// A copy engine takes its orders from the driver: each piece costs a call, 2.5 microseconds in
// which the link is idle, 4 with an event behind it, and whoever asks for that event holds a lock
// that the next call needs. That is as long as 128 to 200 KiB take on PCIe 5, so pieces must be
// megabytes, and then the link waits for the first of them to be filled. A kernel whose blocks each
// serve one slot needs no calls at all: the host writes an order into memory that the block looks
// at, the block writes the answer. Pieces of 32 to 128 KiB then fill the link
// (docs/design/device.md has figures).
//
//   for each slot, by the thread that owns it:
//     fill the slot; post(order, {number, offset, size});            // up
//     while (!has_answered(answer, number)) …                        // the slot may be used again
//
// A copy kernel occupies as many blocks of the device as it has slots, so it is for a device that
// computes nothing else meanwhile. It gives a slot up that got no order for `patience`: whoever
// stops, or is stopped (a debugger, a call that waits for the kernel that it launches), blocks the
// device no longer than that. What was posted then is not moved, and never will be.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hoist::device {

// What the host wants of a slot. The number is written last: 1 for the slot's first piece, and so
// on, or kCopyEnd.
struct alignas(64) CopyOrder {
  uint64_t number;
  uint64_t offset;  // of the piece in the device's memory
  uint64_t size;    // bytes, at most CopyKernel::slot_size
};
inline constexpr uint64_t kCopyEnd = ~uint64_t{0};

// What the device says of it.
struct alignas(64) CopyAnswer {
  uint64_t number;  // of the last piece that was moved
  uint64_t left;    // 1: the slot was given up
};

// Plain numbers, which a kernel takes by value. Orders and answers are zero when it starts, and lie
// in pinned memory as the slots do.
struct CopyKernel {
  std::byte* memory;  // the device's; 16-byte aligned, and so are all offsets
  bool is_upload;     // slots to memory, else memory to slots
  uint32_t count;     // slots
  std::byte* slots;   // slot_size bytes each; 16-byte aligned
  uint64_t slot_size;
  CopyOrder* orders;
  CopyAnswer* answers;
  uint64_t patience;  // nanoseconds
};

// By the host. Whoever posts to a slot is one thread at a time, and waits for the answer to the
// slot's last order first.
inline void post(CopyOrder& order, const CopyOrder& wanted) {
  order.offset = wanted.offset;
  order.size = wanted.size;
  std::atomic_ref(order.number).store(wanted.number, std::memory_order_release);
}
inline void end_slot(CopyOrder& order) {
  std::atomic_ref(order.number).store(kCopyEnd, std::memory_order_release);
}
inline bool has_answered(CopyAnswer& answer, uint64_t number) {
  return std::atomic_ref(answer.number).load(std::memory_order_acquire) >= number;
}
// True: of what has not been answered by now nothing will be.
inline bool has_left(CopyAnswer& answer) {
  return std::atomic_ref(answer.left).load(std::memory_order_acquire) != 0;
}

// The same by a thread of the host, for memory of the host: the CPU device's copy kernel, and what
// the kernel's is tested against.
void serve_on_host(const CopyKernel& copy_kernel);

}  // namespace hoist::device
