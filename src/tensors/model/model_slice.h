// Parts of a tensor of a model file: no more is read than they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "tensors/model/model_source.h"

namespace hoist::tensors {

// Every `step`th of an axis, from `start` on.
struct AxisRange {
  uint64_t start = 0;
  uint64_t step = 1;
  uint64_t count = 0;
};

// A tensor's type and shape, and its name for messages.
struct SlicedTensor {
  std::string_view name;
  DType dtype = DType::f32;
  std::span<const uint64_t> shape;
};

// Where the elements lie that one range for each axis takes: runs of as many bytes each.
class SliceRuns {
 public:
  // `bytes`: of all elements taken. `invalid_argument`: another number, a range beyond its axis, or
  // elements that share bytes (F4).
  static Result<SliceRuns> of(const SlicedTensor& tensor, std::span<const AxisRange> axes,
                              uint64_t bytes);

  bool empty() const { return run_bytes_ == 0; }
  uint64_t run_bytes() const { return run_bytes_; }
  // The bytes of the tensor from the first run's first to the last run's last.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  // By offset, until one of the calls fails.
  Status for_each(const std::function<Status(uint64_t offset)>& visit) const;

 private:
  struct Axis {
    uint64_t count;
    uint64_t step;  // bytes
  };

  uint64_t run_bytes_ = 0;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::vector<Axis> outer_;  // the axes that runs are counted along
};

// The elements that one range for each axis takes, in the order of the tensor. `into` has their
// bytes. `invalid_argument`: a range beyond its axis, or elements that share bytes (F4).
Status read_slice(const ModelSource& model, const ModelTensor& tensor,
                  std::span<const AxisRange> axes, std::span<std::byte> into);

}  // namespace hoist::tensors
