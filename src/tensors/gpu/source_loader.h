// Models of formats that hold their tensors as they are (tensors/model) into a device's memory.
#pragma once

#include "tensors/gpu/model_loader.h"
#include "tensors/model/model_source.h"

namespace hoist::tensors {

// Reads and copies tensor after tensor. Of the options those that have a meaning: on_tensor, stop.
// Memory on the host: the largest tensor, and pinned memory for the copies. The device must outlive
// what is loaded.
Result<GpuModel> load_source(device::Device& device, const ModelSource& source,
                             const GpuLoadOptions& options = {});

}  // namespace hoist::tensors
