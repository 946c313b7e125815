#include "graph/kernels/products.h"

#include <algorithm>

namespace hoist::graph::kernels {

using program::Access;

namespace {

constexpr int64_t kMostGeneratedDepth = 1024;
constexpr int64_t kMostMultiplications = int64_t{1} << 20;

// The batch as one axis, if all walk through it in equal steps.
struct Batch {
  int64_t count = 1;
  int64_t a = 0;
  int64_t b = 0;
};

std::optional<Batch> batch_of(const Extents& shape, const Access& a, const Access& b) {
  Batch batch;
  for (size_t i = shape.size() - 2; i-- > 0;) {
    if (shape[i] == 1) continue;
    if (batch.count == 1) {
      batch = {shape[i], a.strides[i], b.strides[i]};
    } else if (a.strides[i] == batch.a * batch.count && b.strides[i] == batch.b * batch.count) {
      batch.count *= shape[i];
    } else {
      return {};
    }
  }
  return batch;
}

// Whether a matrix of that many rows and columns lies by rows or by columns, none over another.
bool lies_well(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  const auto by_lines = [](int64_t lines, int64_t length, int64_t line, int64_t step) {
    return (step == 1 || length == 1) && (lines == 1 || line >= length);
  };
  return by_lines(rows, columns, row, column) || by_lines(columns, rows, column, row);
}

class ProductEmitter {
 public:
  ProductEmitter(const EmitContext& context, const Fused& fused, Id id, Id result)
      : context_(context), fused_(fused), node_(context.graph[id]), result_(result) {}

  Status emit() {
    const size_t rank = node_.shape.size();
    step_.rows = node_.shape[rank - 2];
    step_.columns = node_.shape[rank - 1];
    step_.depth = context_.graph[node_.inputs[0]].shape.back();
    step_.factors = factor_type();
    step_.result = *scalar_of(context_.graph[result_].dtype);
    Access a = access_of(node_.inputs[0], rank - 1);
    Access b = access_of(node_.inputs[1], rank - 2);
    if (!fits(node_.inputs[0], a, step_.rows, step_.depth)) {
      if (Status packed = pack(node_.inputs[0], rank - 1, a, a_); !packed) return packed;
    }
    if (!fits(node_.inputs[1], b, step_.depth, step_.columns)) {
      if (Status packed = pack(node_.inputs[1], rank - 2, b, b_); !packed) return packed;
    }
    auto batch = batch_of(node_.shape, a, b);
    if (!batch && !b_) {
      if (Status packed = pack(node_.inputs[1], rank - 2, b, b_); !packed) return packed;
      batch = batch_of(node_.shape, a, b);
    }
    if (!batch) {
      if (Status packed = pack(node_.inputs[0], rank - 1, a, a_); !packed) return packed;
      batch = batch_of(node_.shape, a, b);
    }
    step_.batch = batch->count;
    step_.a = matrix(node_.inputs[0], a_, a, batch->a);
    step_.b = matrix(node_.inputs[1], b_, b, batch->b);
    // Rows of all matrices of the batch are one matrix's, where B is the same for all.
    if (batch->b == 0 && batch->a == step_.rows * step_.a.row && step_.a.column == 1) {
      step_.rows *= step_.batch;
      step_.batch = 1;
    }
    step_.c = context_.memories.of(result_);
    context_.lowered.steps.emplace_back(step_);
    return {};
  }

 private:
  Extents shape_of(size_t depth_axis) const {
    Extents shape = node_.shape;
    shape[depth_axis] = step_.depth;
    return shape;
  }

  Access access_of(Id from, size_t depth_axis) const {
    return program::broadcast_access(shape_of(depth_axis), context_.graph[from].shape,
                                     fused_.origins[from].access);
  }

  // Both in 16 bits are multiplied so.
  ir::Scalar factor_type() const {
    const auto a = *scalar_of(context_.graph[node_.inputs[0]].dtype);
    const auto b = *scalar_of(context_.graph[node_.inputs[1]].dtype);
    const bool is_narrow = a == ir::Scalar::f16 || a == ir::Scalar::bf16;
    return a == b && is_narrow ? a : *scalar_of(node_.dtype);
  }

  // What is a number, or of another type, is copied.
  bool fits(Id from, const Access& access, int64_t rows, int64_t columns) const {
    const Node& root = context_.graph[fused_.origins[from].root];
    if (root.is_number() || scalar_of(root.dtype) != step_.factors) return false;
    const size_t rank = access.strides.size();
    return lies_well(rows, columns, access.strides[rank - 2], access.strides[rank - 1]);
  }

  Status pack(Id from, size_t depth_axis, Access& access, std::optional<Storage>& packed) {
    const Extents shape = shape_of(depth_axis);
    access = {0, program::dense_strides(shape)};
    packed = context_.memories.scratch(step_.factors,
                                       static_cast<uint64_t>(program::element_count(shape)));
    const Result<GroupPlan> plan = plan_copy(context_.graph, fused_, from, shape, step_.factors,
                                             *packed, access, context_.memories);
    if (!plan) return plan.error();
    return emit_group(context_, *plan);
  }

  ProductStep::Matrix matrix(Id from, std::optional<Storage> packed, const Access& access,
                             int64_t batch) const {
    const size_t rank = access.strides.size();
    const Storage storage = packed ? *packed : context_.memories.of(fused_.origins[from].root);
    return {storage, access.offset, access.strides[rank - 2], access.strides[rank - 1], batch};
  }

  const EmitContext& context_;
  const Fused& fused_;
  const Node& node_;
  const Id result_;
  ProductStep step_;
  std::optional<Storage> a_;  // packed
  std::optional<Storage> b_;
};

}  // namespace

bool is_generated(const Graph& graph, Id product, const LowerOptions& options) {
  const Node& node = graph[product];
  const auto type = scalar_of(node.dtype);
  if (options.generates_products || !type || !ir::is_float(*type)) return true;
  const int64_t depth = graph[node.inputs[0]].shape.back();
  return depth <= kMostGeneratedDepth &&
         node.elements() <= kMostMultiplications / std::max<int64_t>(depth, 1);
}

Status emit_product(const EmitContext& context, const Fused& fused, Id product, Id result) {
  return ProductEmitter(context, fused, product, result).emit();
}

}  // namespace hoist::graph::kernels
