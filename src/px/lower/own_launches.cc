#include "px/lower/own_launches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "ir/walk.h"

namespace hoist::px {
namespace {

using Kind = ir::Expression::Kind;

// The launch's expressions as the kernel's arguments give them.
class InKernel {
 public:
  InKernel(ir::Expressions& make, const HostLaunch& launch) : make_(make), launch_(launch) {}

  // Null where the kernel's arguments do not decide it.
  const ir::Expression* of(const ir::Expression* e) {
    if (e->kind == Kind::parameter) return parameter(*e->parameter);
    if (e->kind == Kind::length) return length(*e->array);
    if (e->operands.empty()) return e;
    std::vector<const ir::Expression*> operands;
    for (const ir::Expression* operand : e->operands) {
      operands.push_back(of(operand));
      if (operands.back() == nullptr) return nullptr;
    }
    return make_.with_operands(e, std::move(operands));
  }

 private:
  const ir::Expression* parameter(const ir::Parameter& host) {
    for (size_t i = 0; i < launch_.arguments.size(); ++i) {
      const ir::Expression* given = launch_.arguments[i].scalar;
      if (given == nullptr || given->kind != Kind::parameter || given->parameter != &host) continue;
      return make_.parameter(launch_.kernel->arguments[i].scalar);
    }
    return nullptr;
  }

  const ir::Expression* length(const ir::Array& host) {
    for (size_t i = 0; i < launch_.arguments.size(); ++i) {
      const HostArray* given = launch_.arguments[i].array;
      if (given == nullptr || &given->array != &host) continue;
      return make_.length(launch_.kernel->arguments[i].array);
    }
    return nullptr;
  }

  ir::Expressions& make_;
  const HostLaunch& launch_;
};

// Whether the kernel knows more of its grid than the thread's number.
bool asks_for_grid(const ir::Kernel& kernel) {
  bool asks = false;
  ir::for_each_node(kernel.body, [&](const ir::Expression& node) {
    asks |= node.kind == Kind::id && node.id() != ir::Id::thread;
  });
  ir::for_each_statement(kernel.body,
                         [&](const ir::Statement& s) { asks |= ir::is_collective(s); });
  return asks;
}

bool is_fixed(const ir::Launch& launch) {
  return std::all_of(launch.blocks.begin(), launch.blocks.end(),
                     [](const ir::Expression* e) { return e == nullptr || e->is_constant(); });
}

class OwnLaunches {
 public:
  OwnLaunches(ir::Module& module, const Source& source) : module_(module), source_(source) {}

  void collect(const std::vector<HostStep>& steps) {
    for (const HostStep& step : steps) {
      if (const auto* launch = std::get_if<HostLaunch>(&step.action)) add(*launch, step.span);
      if (const auto* loop = std::get_if<HostLoop>(&step.action)) collect(loop->body);
    }
  }

  void finish() {
    for (const auto& kernel : module_.kernels()) {  // in the file's order
      const auto launch = found_.find(kernel.get());
      if (launch == found_.end() || !launch->second) continue;
      if (is_fixed(*launch->second) && !asks_for_grid(*kernel)) continue;
      module_.add(*launch->second);
    }
  }

 private:
  void add(const HostLaunch& host, Span span) {
    const std::optional<ir::Launch> launch = converted(host, span);
    const auto [there, is_new] = found_.try_emplace(host.kernel, launch);
    const bool is_same =
        is_new || (launch && there->second && there->second->blocks == launch->blocks &&
                   there->second->threads == launch->threads);
    if (!is_same) there->second.reset();
  }

  std::optional<ir::Launch> converted(const HostLaunch& host, Span span) {
    const Position at = source_.position(span.begin);
    ir::Launch launch{.kernel = host.kernel, .place = {at.line, at.column}};
    InKernel in_kernel(module_.expressions(), host);
    for (size_t d = 0; d < 3; ++d) {
      for (auto [from, to] :
           {std::pair{&host.blocks, &launch.blocks}, std::pair{&host.threads, &launch.threads}}) {
        if ((*from)[d] == nullptr) continue;
        (*to)[d] = in_kernel.of((*from)[d]);
        if ((*to)[d] == nullptr) return std::nullopt;
      }
    }
    return launch;
  }

  ir::Module& module_;
  const Source& source_;
  std::map<const ir::Kernel*, std::optional<ir::Launch>> found_;
};

}  // namespace

void add_launches(ir::Module& module, const HostProgram& host, const Source& source) {
  OwnLaunches launches(module, source);
  launches.collect(host.steps);
  launches.finish();
}

}  // namespace hoist::px
