// A slice is runs of bytes, found by counting through its axes. Runs that lie close together are
// read at once, with what is between them.
#include "tensors/model/model_slice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hoist::tensors {
namespace {

// A system call costs what reading a few pages does.
constexpr uint64_t kGap = uint64_t{16} << 10;
constexpr uint64_t kMostAtOnce = uint64_t{1} << 20;

Status check(const SlicedTensor& tensor, std::span<const AxisRange> axes, uint64_t bytes) {
  const DTypeProperties& type = properties(tensor.dtype);
  bool fits = axes.size() == tensor.shape.size() && type.packed == 1;
  uint64_t elements = 1;
  for (size_t i = 0; i < axes.size() && fits; ++i) {
    const AxisRange& axis = axes[i];
    const uint64_t extent = tensor.shape[i];
    fits = axis.step > 0 && axis.count <= extent;
    if (fits && axis.count > 0) {
      fits = axis.start < extent && (axis.count - 1) <= (extent - 1 - axis.start) / axis.step;
    }
    elements *= axis.count;
  }
  if (fits && elements * type.bytes == bytes) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("no such slice of tensor '{}'", tensor.name));
}

class SliceReader {
 public:
  SliceReader(const ModelSource& model, const ModelTensor& tensor, std::span<std::byte> into)
      : model_(model), tensor_(tensor), into_(into) {}

  Status run(const SliceRuns& runs);

 private:
  struct Run {
    uint64_t offset;
    size_t to;
  };

  Status add(uint64_t offset);
  Status flush();

  const ModelSource& model_;
  const ModelTensor& tensor_;
  std::span<std::byte> into_;
  uint64_t run_bytes_ = 0;
  size_t filled_ = 0;
  std::vector<Run> pending_;  // by offset, read at once
  std::vector<std::byte> buffer_;
};

Status SliceReader::flush() {
  if (pending_.empty()) return {};
  const uint64_t begin = pending_.front().offset;
  const uint64_t bytes = pending_.back().offset + run_bytes_ - begin;
  Status read;
  if (bytes == pending_.size() * run_bytes_) {  // without gaps
    read = model_.read(tensor_, begin, into_.subspan(pending_.front().to, bytes));
  } else {
    buffer_.resize(std::max<size_t>(buffer_.size(), bytes));
    read = model_.read(tensor_, begin, std::span(buffer_).first(bytes));
    for (const Run& run : pending_) {
      std::memcpy(into_.data() + run.to, buffer_.data() + (run.offset - begin), run_bytes_);
    }
  }
  pending_.clear();
  return read;
}

Status SliceReader::add(uint64_t offset) {
  if (!pending_.empty()) {
    const uint64_t end = pending_.back().offset + run_bytes_;
    if (offset - end > kGap || offset + run_bytes_ - pending_.front().offset > kMostAtOnce) {
      if (Status done = flush(); !done) return done;
    }
  }
  pending_.push_back({offset, filled_});
  filled_ += run_bytes_;
  return {};
}

Status SliceReader::run(const SliceRuns& runs) {
  run_bytes_ = runs.run_bytes();
  if (Status added = runs.for_each([&](uint64_t offset) { return add(offset); }); !added) {
    return added;
  }
  return flush();
}

}  // namespace

Result<SliceRuns> SliceRuns::of(const SlicedTensor& tensor, std::span<const AxisRange> axes,
                                uint64_t bytes) {
  if (Status fits = check(tensor, axes, bytes); !fits) return fits.error();
  SliceRuns runs;
  if (bytes == 0) return runs;
  std::vector<uint64_t> strides(axes.size());  // bytes from one element of an axis to the next
  uint64_t stride = properties(tensor.dtype).bytes;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= tensor.shape[i];
  }
  // The innermost axes that make one run: whole ones, and one more of step 1.
  size_t outer = axes.size();
  runs.run_bytes_ = properties(tensor.dtype).bytes;
  while (outer > 0 && axes[outer - 1].step == 1) {
    const AxisRange& axis = axes[--outer];
    runs.run_bytes_ *= axis.count;
    runs.begin_ += axis.start * strides[outer];
    if (axis.count != tensor.shape[outer]) break;
  }
  for (size_t i = 0; i < outer; ++i) runs.begin_ += axes[i].start * strides[i];
  runs.end_ = runs.begin_ + runs.run_bytes_;
  for (size_t i = 0; i < outer; ++i) {
    runs.outer_.push_back({axes[i].count, axes[i].step * strides[i]});
    runs.end_ += (axes[i].count - 1) * runs.outer_.back().step;
  }
  return runs;
}

Status SliceRuns::for_each(const std::function<Status(uint64_t offset)>& visit) const {
  if (empty()) return {};
  std::vector<uint64_t> at(outer_.size());
  for (uint64_t offset = begin_;;) {
    if (Status visited = visit(offset); !visited) return visited;
    size_t axis = outer_.size();
    for (; axis > 0; --axis) {
      const auto& [count, step] = outer_[axis - 1];
      if (++at[axis - 1] < count) {
        offset += step;
        break;
      }
      offset -= (count - 1) * step;
      at[axis - 1] = 0;
    }
    if (axis == 0) return {};
  }
}

Status read_slice(const ModelSource& model, const ModelTensor& tensor,
                  std::span<const AxisRange> axes, std::span<std::byte> into) {
  const Result<SliceRuns> runs =
      SliceRuns::of({tensor.name, tensor.dtype, tensor.shape}, axes, into.size());
  if (!runs) return runs.error();
  return SliceReader(model, tensor, into).run(*runs);
}

}  // namespace hoist::tensors
