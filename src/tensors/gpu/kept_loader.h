// Loaders that outlive a call, for interfaces whose users have none:
//
//   KeptLoader loader(device);
//   Result<DeviceModel> model = loader->load(file);
//
// One idle loader a device is kept until the process ends, with its pinned memory and its threads,
// so that the next load need not make them. Calls that overlap have one each. A child after fork()
// begins with none. Thread-safe.
#pragma once

#include <sys/types.h>

#include <memory>

#include "tensors/gpu/model_loader.h"

namespace hoist::tensors {

class KeptLoader {
 public:
  explicit KeptLoader(device::Device& device);
  ~KeptLoader();  // keeps it
  KeptLoader(const KeptLoader&) = delete;
  KeptLoader& operator=(const KeptLoader&) = delete;

  ModelLoader* operator->() const { return loader_.get(); }
  ModelLoader& operator*() const { return *loader_; }

 private:
  const pid_t process_;
  std::unique_ptr<ModelLoader> loader_;
};

}  // namespace hoist::tensors
