// Model files into a .holo file, from which restore.h makes them again.
//
//   Result<ModelSource> model = ModelSource::open({"model.safetensors"});
//   Result<HoloTensorWriter> packed = pack_model(*model, "model.holo");
#pragma once

#include <functional>
#include <string>

#include "tensors/file/writer.h"
#include "tensors/model/model_source.h"

namespace hoist::tensors {

struct PackProgress {
  // Bytes of tensors encoded, then bytes of the output written, each with what there are in all.
  std::function<void(uint64_t, uint64_t)> encoded = {};
  std::function<void(uint64_t, uint64_t)> written = {};
};

// The finished writer: header, size, root digest. `cancelled` where HoloWriteOptions::stop is
// requested on the way. Memory: one tensor, and the writer's.
Result<HoloTensorWriter> pack_model(const ModelSource& model, const std::string& path,
                                    const HoloWriteOptions& options = {},
                                    ThreadPool* pool = nullptr, const PackProgress& progress = {});

}  // namespace hoist::tensors
