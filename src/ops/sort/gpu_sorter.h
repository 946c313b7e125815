// Entries sorted by a GPU: hoistd's, or one that this process opens itself.
//
//   GpuSorter gpu(4, lent_gpu(GpuUse::any), threads);          // opens it meanwhile, on a thread
//   EntrySorter(…, &gpu).sort(entries, scratch, remake);       // waits for it when it is wanted
//
// Whatever goes wrong there, it is not wanted again: the engine's own threads do the work.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "base/result.h"
#include "ops/sort/code_sorter.h"
#include "ops/sort/gpu_use.h"

namespace hoist::device {
class Device;
}

namespace hoist::sort {

using OpenDevice = std::function<Result<std::shared_ptr<device::Device>>()>;

// `use` is not `none`.
OpenDevice lent_gpu(GpuUse use);

class GpuSorter : public CodeSorter {
 public:
  // `least` entries are worth it. `threads` may move them.
  GpuSorter(size_t least, OpenDevice open_device, int threads);
  ~GpuSorter() override;
  GpuSorter(const GpuSorter&) = delete;
  GpuSorter& operator=(const GpuSorter&) = delete;

  bool wants(size_t count) const override;
  EntriesAre sort(std::span<Entry> entries) override;

  // Whether it has sorted anything, and what it is to the counters: "cuda", or "hoistd".
  bool was_used() const { return was_used_; }
  const char* implementation() const;

 private:
  struct Gpu;
  void open();
  void give_up(const std::string& why);

  const size_t least_;
  const OpenDevice open_device_;
  const int threads_;
  std::atomic<bool> usable_ = true;
  bool was_used_ = false;
  std::unique_ptr<Gpu> gpu_;  // the opener's until it is joined
  std::thread opener_;
};

}  // namespace hoist::sort
