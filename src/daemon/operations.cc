#include "daemon/operations.h"

#include <algorithm>
#include <array>

#include "daemon/fifo_semaphore.h"
#include "device/radix_sort/served_radix_sort.h"
#include "device/remote/ring_layout.h"
#include "ops/gemm/served_gemm.h"
#include "ops/hash/gpu/served_sha256.h"

namespace hoist::daemon {
namespace {

using device::remote::ServedCall;
using device::remote::ServedMemory;
using device::remote::ServedOperation;

class None : public ServedOperation {
 public:
  None() : ServedOperation(HOIST_REQUEST_NONE, "none") {}
  Status validate(const ServedCall& call) const override { return check_shape(call, 0, 0); }
  Status run(const ServedCall& call) const override { return {}; }
};

class Fill : public ServedOperation {
 public:
  Fill() : ServedOperation(HOIST_REQUEST_FILL, "fill") {}
  Status validate(const ServedCall& call) const override {
    if (Status shape = check_shape(call, 1, 1); !shape) return shape;
    if (call.arguments[0] <= 0xff) return {};
    return fail(ErrorCode::invalid_argument, "not a byte (request)");
  }
  Status run(const ServedCall& call) const override {
    return call.device.fill(call.memory[0].data, static_cast<std::byte>(call.arguments[0]),
                            call.memory[0].size, call.stream);
  }
};

class Copy : public ServedOperation {
 public:
  Copy() : ServedOperation(HOIST_REQUEST_COPY, "copy") {}
  bool takes_pool() const override { return true; }

  Status validate(const ServedCall& call) const override {
    if (Status shape = check_shape(call, 2, 0); !shape) return shape;
    const ServedMemory& from = call.memory[0];
    const ServedMemory& to = call.memory[1];
    if (from.size != to.size) {
      return fail(ErrorCode::invalid_argument, "ranges of two lengths (copy request)");
    }
    if (from.in_pool && to.in_pool) {
      return fail(ErrorCode::invalid_argument, "the client can do this itself (copy request)");
    }
    if (from.data < to.data + to.size && to.data < from.data + from.size) {
      return fail(ErrorCode::invalid_argument, "ranges that overlap (copy request)");
    }
    return {};
  }

  Status run(const ServedCall& call) const override {
    const ServedMemory& from = call.memory[0];
    const ServedMemory& to = call.memory[1];
    if (from.size <= kPiece) return call.device.copy(to.data, from.data, from.size, call.stream);
    // What is on the stream before it is not to be waited for in a turn.
    if (call.stream.pointer != nullptr) {
      if (Status idle = call.device.synchronize(call.stream); !idle) return idle;
    }
    FifoSemaphore& copies = to.in_pool ? out_ : in_;
    for (uint64_t done = 0; done < from.size; done += kPiece) {
      const FifoSemaphore::Hold hold(copies);
      const uint64_t size = std::min(kPiece, from.size - done);
      Status copied = call.device.copy(to.data + done, from.data + done, size, call.stream);
      if (copied && call.stream.pointer != nullptr) copied = call.device.synchronize(call.stream);
      if (!copied) return copied;
    }
    return {};
  }

 private:
  // 0.15 ms of a PCIe 5 link: long beside the 10 µs that a turn costs, short for who waits.
  static constexpr uint64_t kPiece = uint64_t{8} << 20;
  mutable FifoSemaphore in_{2};
  mutable FifoSemaphore out_{2};
};

}  // namespace

std::span<const ServedOperation* const> served_operations() {
  static const None none;
  static const Copy copy;
  static const Fill fill;
  static const gemm::ServedGemm gemm;
  static const device::radix_sort::ServedRadixSort radix_sort;
  static const hash::ServedSha256 sha256;
  static const std::array<const ServedOperation*, 6> operations = {&none, &copy,       &fill,
                                                                   &gemm, &radix_sort, &sha256};
  return operations;
}

const ServedOperation* find_operation(uint32_t number) {
  for (const ServedOperation* operation : served_operations()) {
    if (operation->number() == number) return operation;
  }
  return nullptr;
}

}  // namespace hoist::daemon
