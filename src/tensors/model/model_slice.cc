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

Status check(const ModelTensor& tensor, std::span<const AxisRange> axes, size_t bytes) {
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

  Status run(std::span<const AxisRange> axes);

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

Status SliceReader::run(std::span<const AxisRange> axes) {
  std::vector<uint64_t> strides(axes.size());  // bytes from one element of an axis to the next
  uint64_t stride = properties(tensor_.dtype).bytes;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= tensor_.shape[i];
  }
  // The innermost axes that make one run: whole ones, and one more of step 1.
  size_t outer = axes.size();
  run_bytes_ = properties(tensor_.dtype).bytes;
  uint64_t first = 0;
  while (outer > 0 && axes[outer - 1].step == 1) {
    const AxisRange& axis = axes[--outer];
    run_bytes_ *= axis.count;
    first += axis.start * strides[outer];
    if (axis.count != tensor_.shape[outer]) break;
  }
  for (size_t i = 0; i < outer; ++i) first += axes[i].start * strides[i];
  std::vector<uint64_t> at(outer);
  for (uint64_t offset = first;;) {
    if (Status added = add(offset); !added) return added;
    size_t axis = outer;
    for (; axis > 0; --axis) {
      const uint64_t step = axes[axis - 1].step * strides[axis - 1];
      if (++at[axis - 1] < axes[axis - 1].count) {
        offset += step;
        break;
      }
      offset -= (at[axis - 1] - 1) * step;
      at[axis - 1] = 0;
    }
    if (axis == 0) return flush();
  }
}

}  // namespace

Status read_slice(const ModelSource& model, const ModelTensor& tensor,
                  std::span<const AxisRange> axes, std::span<std::byte> into) {
  if (Status fits = check(tensor, axes, into.size()); !fits) return fits;
  if (into.empty()) return {};
  return SliceReader(model, tensor, into).run(axes);
}

}  // namespace hoist::tensors
