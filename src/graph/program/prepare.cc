#include "graph/program/prepare.h"

#include <limits>

#include "graph/program/access.h"

namespace hoist::graph::program {
namespace {

class Preparation {
 public:
  explicit Preparation(const Graph& from) : from_(from), made_(from.size()), access_(from.size()) {}

  Graph run() {
    const std::vector<bool> live = from_.live();
    for (const Id id : from_.inputs()) set(id, graph_.take(from_[id]));
    for (Id id = 0; id < from_.size(); ++id) {
      if (live[id] && from_[id].op != Op::input) set(id, prepared(from_[id]));
    }
    std::vector<Id> outputs;
    for (const Id id : from_.outputs()) {
      // A cast that was left out is made here.
      outputs.push_back(computed(graph_.cast(made_[id], from_[id].dtype).value()));
    }
    graph_.set_outputs(std::move(outputs));
    return std::move(graph_);
  }

 private:
  void set(Id id, Id made) { made_[id] = made; }

  // A node that is computed and whose memory is that of the array: itself, what it is a reshape of,
  // or a copy.
  Id computed(Id id) {
    Id root = id;
    while (is_view(graph_[root].op)) root = graph_[root].inputs[0];
    // Types differ where a cast was left out.
    if (!is_primitive(graph_[root].op) || graph_[root].dtype != graph_[id].dtype) return copied(id);
    const bool is_whole =
        graph_[root].elements() == graph_[id].elements() && is_dense(graph_[id].shape, access(id));
    return is_whole ? root : copied(id);
  }

  Id copied(Id id) { return graph_.add_node(Op::copy, {id}).value(); }

  Id filled(double value, const Node& node) {
    return graph_.broadcast(graph_.number(value, node.dtype), node.shape).value();
  }

  Id prepared(Node node) {
    for (Id& input : node.inputs) input = made_[input];
    if (is_reduction(node.op)) return reduction(std::move(node));
    if (node.op == Op::matmul && graph_[node.inputs[0]].shape.back() == 0) {
      return filled(0, node);
    }
    if (node.op == Op::cast && is_free_cast(graph_[node.inputs[0]].dtype, node.dtype)) {
      return node.inputs[0];
    }
    if (node.op == Op::cumulative_sum && node.shape[static_cast<size_t>(node.numbers[0])] <= 1) {
      return node.inputs[0];
    }
    if (is_view(node.op)) return view(std::move(node));
    return take(std::move(node));
  }

  Id take(Node node) {
    const Extents shape = node.shape;
    const Id id = graph_.take(std::move(node));
    remember(id, {0, dense_strides(shape)});
    return id;
  }

  void remember(Id id, Access access) {
    if (access_.size() <= id) access_.resize(id + 1);
    access_[id] = std::move(access);
  }

  // Where a node's elements lie in what it is a view of.
  const Access& access(Id id) {
    if (access_.size() <= id || access_[id].strides.size() != graph_[id].shape.size()) {
      remember(id, {0, dense_strides(graph_[id].shape)});
    }
    return access_[id];
  }

  Id view(Node node) {
    const Extents shape = graph_[node.inputs[0]].shape;
    auto found = access_of_view(node, shape, access(node.inputs[0]));
    if (!found) {
      node.inputs[0] = copied(node.inputs[0]);
      found = access_of_view(node, shape, {0, dense_strides(shape)});
    }
    const Id id = graph_.take(std::move(node));
    remember(id, *std::move(found));
    return id;
  }

  Id reduction(Node node) {
    const Extents& shape = graph_[node.inputs[0]].shape;
    int64_t count = 1;
    Extents axes;
    for (const int64_t axis : node.numbers) {
      const int64_t extent = shape[static_cast<size_t>(axis)];
      count *= extent;
      if (extent != 1) axes.push_back(axis);
    }
    if (is_place(node.op) && axes.empty()) return filled(0, node);
    const bool is_mean = node.op == Op::mean;
    if (count == 0) {
      const double none = node.op == Op::product ? 1 : 0;
      return filled(is_mean ? std::numeric_limits<double>::quiet_NaN() : none, node);
    }
    const bool is_sum = is_mean || node.op == Op::sum;
    Id made = node.inputs[0];
    if (!axes.empty()) {
      made =
          take({is_mean ? Op::sum : node.op, node.dtype, node.shape, node.inputs, axes, nullptr});
    } else if (is_sum) {  // sums begin with +0
      made = take(
          {Op::add, node.dtype, node.shape, {made, graph_.number(0, node.dtype)}, {}, nullptr});
    }
    if (!is_mean) return made;
    const Id divisor = graph_.number(static_cast<double>(count), node.dtype);
    return graph_.add_node(Op::divide, {made, divisor}).value();
  }

  const Graph& from_;
  Graph graph_;
  std::vector<Id> made_;
  std::vector<Access> access_;
};

}  // namespace

Graph prepare(const Graph& graph) { return Preparation(graph).run(); }

}  // namespace hoist::graph::program
