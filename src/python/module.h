// Parts of hoist._native, one function a pillar.
#pragma once

#include <nanobind/nanobind.h>

namespace hoist::python {

void define_tensors(nanobind::module_& module);
void define_holo_tensors(nanobind::module_& module);
void define_holo_contexts(nanobind::module_& module);
void define_fuzz_function(nanobind::module_& module);
void define_match_fuzz(nanobind::module_& module);
void define_fuzz_extract(nanobind::module_& module);
void define_fuzz_best(nanobind::module_& module);
void define_fuzz_matrix(nanobind::module_& module);
void define_match_pairs(nanobind::module_& module);
void define_match_scorer(nanobind::module_& module);
void define_match_sequence(nanobind::module_& module);

}  // namespace hoist::python
