#include "tensors/gpu/kept_loader.h"

#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace hoist::tensors {
namespace {

struct Idle {
  std::mutex mutex;
  const pid_t process = ::getpid();
  std::map<device::Device*, std::unique_ptr<GpuModelLoader>> loaders;
};

// This process's. Never destroyed: at the end devices may be gone already, and what came with a
// fork has threads and locks that only the parent has.
Idle& idle() {
  static std::atomic<Idle*> current{nullptr};
  Idle* seen = current.load();
  while (seen == nullptr || seen->process != ::getpid()) {
    auto fresh = std::make_unique<Idle>();
    if (current.compare_exchange_weak(seen, fresh.get())) seen = fresh.release();
  }
  return *seen;
}

}  // namespace

KeptLoader::KeptLoader(device::Device& device) : process_(::getpid()) {
  {
    Idle& from = idle();
    const std::lock_guard lock(from.mutex);
    const auto found = from.loaders.find(&device);
    if (found != from.loaders.end()) loader_ = std::exchange(found->second, nullptr);
  }
  if (loader_ == nullptr) loader_ = std::make_unique<GpuModelLoader>(device);
}

KeptLoader::~KeptLoader() {
  if (process_ != ::getpid()) {
    (void)loader_.release();  // the parent's
    return;
  }
  Idle& to = idle();
  const std::lock_guard lock(to.mutex);
  std::unique_ptr<GpuModelLoader>& kept = to.loaders[&loader_->device()];
  if (kept == nullptr) kept = std::move(loader_);
}

}  // namespace hoist::tensors
