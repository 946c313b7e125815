// Records of predictions as dicts, with the keys and values that `hoist match query --json` prints.
#pragma once

#include <nanobind/nanobind.h>

#include "match/index/index.h"

namespace hoist::python {

nanobind::list record_dicts(const match::Prediction& prediction, const match::PatternText& state,
                            const match::Index& index);

}  // namespace hoist::python
