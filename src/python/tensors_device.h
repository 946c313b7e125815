// Tensors of a file in a device's memory, for hoist.tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensors/file/reader.h"
#include "tensors/model/model_source.h"

namespace hoist::python {

// Numbers of tensors in their file, with the qualities that they are wanted in; none: whole.
using WantedTensors = std::vector<std::pair<size_t, std::optional<double>>>;

// [(array, quality, parts)] of these tensors, flat arrays of bytes.
nanobind::list load_onto(const tensors::HoloTensorReader& file, const std::string& device,
                         const WantedTensors& wanted);
nanobind::list load_onto(const tensors::ModelSource& source, const std::string& device,
                         const WantedTensors& wanted);

}  // namespace hoist::python
