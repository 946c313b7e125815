#include "tensors/gpu/kept_loader.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/per_process.h"

namespace hoist::tensors {
namespace {

struct Idle {
  std::mutex mutex;
  std::map<device::Device*, std::unique_ptr<ModelLoader>> loaders;
};
// Never destroyed, which suits: at the end devices may be gone already.
constinit PerProcess<Idle> idle;

}  // namespace

KeptLoader::KeptLoader(device::Device& device) : process_(::getpid()) {
  {
    Idle& from = idle.get();
    const std::lock_guard lock(from.mutex);
    loader_ = std::exchange(from.loaders[&device], nullptr);
  }
  if (loader_ == nullptr) loader_ = std::make_unique<ModelLoader>(device);
}

KeptLoader::~KeptLoader() {
  if (process_ != ::getpid()) {
    (void)loader_.release();  // the parent's
    return;
  }
  Idle& to = idle.get();
  const std::lock_guard lock(to.mutex);
  std::unique_ptr<ModelLoader>& kept = to.loaders[&loader_->device()];
  if (kept == nullptr) kept = std::move(loader_);
}

}  // namespace hoist::tensors
