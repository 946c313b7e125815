// An opened file: a .holo file, or model files of other formats.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capi/stop.h"
#include "hoist/tensors.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/reader.h"
#include "tensors/model/model_source.h"

struct hoist_tensors_file {
  // One of them.
  std::optional<hoist::tensors::HoloTensorReader> holo;
  std::optional<hoist::tensors::ModelSource> model;
  uint64_t max_tensor_bytes = 0;

  size_t count() const { return holo ? holo->header().tensors.size() : model->tensors().size(); }
  uint64_t bytes(size_t tensor) const {
    return holo ? holo->header().tensors[tensor].bytes() : model->tensors()[tensor].bytes;
  }
};

namespace hoist::capi {

// `invalid_argument` for null, `not_found` for a number that no tensor has.
Status check_tensor(const hoist_tensors_file* file, size_t tensor);

// Rules such as "*mlp*=0.95@10". `otherwise`: of names that no rule matches.
Result<tensors::QualityPolicy> policy_of(const char* const* rules, size_t count, double otherwise);

// A target of 0 stands for none.
Status check_target(double target);

// The wishes of one call, checked.
class Selection {
 public:
  static Result<Selection> of(const hoist_tensors_read_options& options);

  tensors::PartSelection of_tensor(const tensors::HoloTensor& tensor) const;
  const tensors::FaultTolerance& tolerance() const { return tolerance_; }
  // The process's, or one of the call's own with fewer threads.
  ThreadPool* pool() const { return own_pool_ ? own_pool_.get() : &ThreadPool::process(); }

 private:
  tensors::PartSelection everywhere_;
  std::optional<tensors::QualityPolicy> policy_;
  tensors::FaultTolerance tolerance_;
  std::unique_ptr<ThreadPool> own_pool_;
};

// At most so many threads; nothing: as many as the process may use.
std::unique_ptr<ThreadPool> limited_pool(unsigned threads);

}  // namespace hoist::capi
