// Files onto a device.
#include <fmt/core.h>

#include <cstring>

#include "capi/status.h"
#include "capi/structs.h"
#include "capi/tensors_file.h"
#include "device/device.h"
#include "tensors/gpu/kept_loader.h"

struct hoist_tensors_model {
  hoist::tensors::DeviceModel model;
  std::string device;
};

namespace hoist::capi {
namespace {

using namespace tensors;

Result<DeviceModel> load(const hoist_tensors_file& file, device::Device& device,
                         const hoist_tensors_load_options& options) {
  if (Status valid = check_target(options.target); !valid) return valid.error();
  const double target = options.target > 0 ? options.target : 1;
  LoadOptions how;
  how.targets = {target};
  std::optional<QualityPolicy> policy;
  if (options.policy_count > 0) {
    auto rules = policy_of(options.policy, options.policy_count, target);
    if (!rules) return rules.error();
    policy = std::move(*rules);
    how.policy = &*policy;
  }
  Stop stop(options.progress, options.progress_context, options.cancellation);
  if (Status stopped = stop.status(); !stopped) return stopped.error();
  uint64_t total = 0;
  for (size_t i = 0; i < file.count(); ++i) {
    if (file.bytes(i) > file.max_tensor_bytes) {
      return fail(ErrorCode::exhausted, fmt::format("tensor {} has {} bytes, the limit is {}", i,
                                                    file.bytes(i), file.max_tensor_bytes));
    }
    total += file.bytes(i);
  }
  uint64_t done = 0;
  how.on_tensor = [&](const DeviceTensor& tensor) {
    done += tensor.data.size;
    stop.report(done, total);
  };
  how.stop = stop.token();
  const KeptLoader loader(device);
  Result<DeviceModel> model =
      file.holo ? loader->load(*file.holo, how) : loader->load(*file.model, how);
  // What was told last may have been the wish to stop.
  if (Status stopped = stop.status(); !stopped) return stopped.error();
  return model;
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::ErrorCode;
using hoist::Result;
using hoist::Status;

namespace {

Status check_model_tensor(const hoist_tensors_model* model, size_t tensor) {
  if (Status there = needed(model, "model"); !there) return there;
  const size_t count = model->model.tensors.size();
  if (tensor < count) return {};
  return hoist::fail(ErrorCode::not_found,
                     fmt::format("no tensor {}, there are {}", tensor, count));
}

}  // namespace

extern "C" {

hoist_status hoist_tensors_load(const hoist_tensors_file* file, const char* device,
                                const hoist_tensors_load_options* options,
                                hoist_tensors_model** model) {
  return guarded([&]() -> Status {
    if (Status there = needed(model, "model"); !there) return there;
    *model = nullptr;
    if (Status there = needed(file, "file"); !there) return there;
    if (Status there = needed(device, "device"); !there) return there;
    const auto own = options_of(options, "hoist_tensors_load_options");
    if (!own) return own.error();
    const Result<hoist::device::Device*> found = hoist::device::find_device(device);
    if (!found) return found.error();
    auto loaded = std::make_unique<hoist_tensors_model>();
    Result<hoist::tensors::DeviceModel> made = load(*file, **found, *own);
    if (!made) return made.error();
    loaded->model = std::move(*made);
    loaded->device = (*found)->properties().id();
    *model = loaded.release();
    return {};
  });
}

void hoist_tensors_model_free(hoist_tensors_model* model) { delete model; }

const char* hoist_tensors_model_device(const hoist_tensors_model* model) {
  return model == nullptr ? nullptr : model->device.c_str();
}

hoist_status hoist_tensors_model_tensor(const hoist_tensors_model* model, size_t tensor,
                                        hoist_device_tensor* description) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(description, "hoist_device_tensor");
    if (!size) return size.error();
    give(hoist_device_tensor{}, *size, description);
    if (Status there = check_model_tensor(model, tensor); !there) return there;
    const hoist::tensors::DeviceTensor& loaded = model->model.tensors[tensor];
    hoist_device_tensor own{};
    own.data = loaded.data.data;
    own.bytes = loaded.data.size;
    own.quality = loaded.quality;
    own.parts = loaded.parts;
    give(own, *size, description);
    return {};
  });
}

hoist_status hoist_tensors_model_download(const hoist_tensors_model* model, size_t tensor,
                                          void* elements, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (Status there = check_model_tensor(model, tensor); !there) return there;
    const auto& data = model->model.tensors[tensor].data;
    if (bytes != data.size) {
      return hoist::fail(
          ErrorCode::invalid_argument,
          fmt::format("room for {} bytes, tensor {} has {}", bytes, tensor, data.size));
    }
    if (bytes == 0) return {};
    if (Status there = needed(elements, "elements"); !there) return there;
    return data.device->copy(elements, data.data, bytes, {});
  });
}

}  // extern "C"
