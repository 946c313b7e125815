#include "graph/kernels/split_product.h"

#include "graph/kernels/row_code.h"

namespace hoist::graph::kernels {

SplitProduct::SplitProduct(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan)
    : writer_(writer), evaluation_(evaluation), plan_(plan) {
  const int64_t depth = plan.product->depth;
  while (parts_ < ir::kWarp && plan.columns * parts_ * 2 <= kThreads && depth % (parts_ * 2) == 0) {
    parts_ *= 2;
  }
}

void SplitProduct::begin(Value first) {
  const Value local = writer_.let(writer_.id(ir::Id::local));
  element_ = writer_.let(writer_.plus(first, writer_.over(local, parts_)));
  place_.emplace(writer_.let(writer_.smaller(element_, writer_.index(plan_.columns - 1))));
}

void SplitProduct::prefetch() {
  part_ = writer_.let(writer_.rest(writer_.let(writer_.id(ir::Id::local)), parts_));
  evaluation_.begin_row(writer_.index(0));
  evaluation_.split_products(part_, parts_);
  if (plan_.columns * parts_ > kThreads) return;
  begin(writer_.index(0));
  evaluation_.prefetch_product(*place_);
}

void SplitProduct::emit() {
  const int64_t together = kThreads / parts_;
  if (!part_) {
    part_ = writer_.let(writer_.rest(writer_.let(writer_.id(ir::Id::local)), parts_));
    evaluation_.begin_row(writer_.index(0));
    evaluation_.split_products(part_, parts_);
  }
  const std::vector<size_t> stores = stores_of(plan_, 0);
  for (const size_t member : stores) evaluation_.prepare(member);
  const bool loops = plan_.columns > together;
  if (loops) {
    begin(
        writer_.begin_for(writer_.index(0), writer_.index(plan_.columns), writer_.index(together)));
  } else if (!place_) {
    begin(writer_.index(0));
  }
  for (const size_t member : stores) evaluation_.at(*place_, member);
  writer_.begin_if(writer_.binary(
      ir::BinaryOperator::bit_and, writer_.is_below(element_, writer_.index(plan_.columns)),
      writer_.make.compare(ir::Comparison::equal, part_, writer_.index(0)).value()));
  for (const size_t member : stores) evaluation_.store_at(*place_, member);
  writer_.end();
  if (loops) writer_.end();
}

}  // namespace hoist::graph::kernels
