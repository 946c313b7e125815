#include "px/host/host_program.h"

#include <algorithm>

namespace hoist::px {
namespace {

bool launches(const std::vector<HostStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const HostStep& step) {
    if (std::holds_alternative<HostLaunch>(step.action)) return true;
    const auto* loop = std::get_if<HostLoop>(&step.action);
    return loop != nullptr && launches(loop->body);
  });
}

}  // namespace

HostArray* HostProgram::find_array(std::string_view name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const HostArray& a) { return a.array.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

HostScalar* HostProgram::find_scalar(std::string_view name) {
  const auto found = std::find_if(scalars.begin(), scalars.end(), [&](const HostScalar& s) {
    return !s.is_counter && s.parameter.name == name;
  });
  return found == scalars.end() ? nullptr : &*found;
}

const HostArray* HostProgram::find_array(std::string_view name) const {
  return const_cast<HostProgram*>(this)->find_array(name);
}

const HostScalar* HostProgram::find_scalar(std::string_view name) const {
  return const_cast<HostProgram*>(this)->find_scalar(name);
}

bool HostProgram::has_launch() const { return launches(steps); }

}  // namespace hoist::px
