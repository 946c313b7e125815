// Operations that hoistd runs for its clients.
//
// To add one: give it a number in ring_layout.h (never one that another had), derive from
// ServedOperation beside the operation itself (src/ops/NAME), and list it in
// src/daemon/operations.cc. A client calls it with Device::run_served().
//
//   class ServedNegate : public ServedOperation {
//    public:
//     ServedNegate() : ServedOperation(HOIST_REQUEST_NEGATE, "negate") {}
//     Status validate(const ServedCall& call) const override {
//       return check_shape(call, /*ranges=*/1, /*arguments=*/0);
//     }
//     Status run(const ServedCall& call) const override { return negate(call.device, …); }
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "device/device.h"

namespace hoist::device::remote {

// Memory that a request names: it is the client's, and inside one of its buffers, or of its pool.
struct ServedMemory {
  std::byte* data;
  uint64_t size;
  bool in_pool;
};

struct ServedCall {
  Device& device;
  StreamHandle stream;  // none: run() returns when it is done (the CPU device)
  std::span<const ServedMemory> memory;
  std::span<const uint64_t> arguments;
};

// Called from many threads at once.
class ServedOperation {
 public:
  ServedOperation(uint32_t number, const char* name) : number_(number), name_(name) {}
  virtual ~ServedOperation() = default;
  ServedOperation(const ServedOperation&) = delete;
  ServedOperation& operator=(const ServedOperation&) = delete;

  uint32_t number() const { return number_; }
  const char* name() const { return name_; }  // in --status and metrics: [a-z0-9_]

  // Whether the pool may stand for a buffer. It is the client's memory still and may change at any
  // moment: only what never acts on what it reads there may say yes.
  virtual bool takes_pool() const { return false; }

  // Judges the numbers of a request that comes from a stranger: how many ranges, their sizes
  // against the dimensions in the arguments (without overflow), overlaps that the operation does
  // not bear. What it lets through must not reach outside the ranges, whatever the bytes in them.
  virtual Status validate(const ServedCall& call) const = 0;
  // Puts the work on the stream.
  virtual Status run(const ServedCall& call) const = 0;

 protected:
  static Status check_shape(const ServedCall& call, size_t ranges, size_t arguments) {
    if (call.memory.size() == ranges && call.arguments.size() == arguments) return {};
    return fail(ErrorCode::invalid_argument, "not its number of ranges and arguments (request)");
  }

 private:
  uint32_t number_;
  const char* name_;
};

}  // namespace hoist::device::remote
