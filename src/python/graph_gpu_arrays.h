// Arrays on GPUs, by DLPack, its exchange API, or `__cuda_array_interface__`.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "python/graph_gpu.h"

namespace hoist::python {

// Whether some program has run on a GPU: else no call need look for arrays there.
bool is_gpu_in_use();
void gpu_was_used();

// An array of the kind that one of the given ones is, to be written.
nanobind::object new_gpu_array(const std::vector<GpuArray>& given, nanobind::sequence objects,
                               const graph::program::Node& node);
nanobind::object allocated(const DLPackExchangeApi& api, const graph::program::Node& node, int gpu,
                           void** data);

// Whether it is contiguous and lies on a GPU.
bool view_on_gpu(const DLPackExchangeApi& api, PyObject* object, DLTensor& view);
// Whether it has the node's type and shape.
bool fits_node(const DLTensor& view, const graph::program::Node& node);

}  // namespace hoist::python
