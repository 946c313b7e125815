// hoist._px: the native part of hoist.px. A module of its own, so that nothing else of the package
// loads compilers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

#include "px/lower/lower.h"
#include "python/errors.h"
#include "python/main_interpreter.h"
#include "python/px_program.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

std::string_view direction_name(ir::Direction direction) {
  switch (direction) {
    case ir::Direction::in:
      return "in";
    case ir::Direction::out:
      return "out";
    case ir::Direction::inout:
      break;
  }
  return "inout";
}

// [(name, [(name, type, direction), …]), …]
nb::list kernels_of(const ir::Module& module) {
  nb::list kernels;
  for (const auto& kernel : module.kernels()) {
    nb::list parameters;
    for (const ir::Kernel::Argument& argument : kernel->arguments) {
      const std::string type = argument.array
                                   ? std::string(ir::name(argument.array->element)) + "[]"
                                   : std::string(ir::name(argument.scalar->type.scalar));
      parameters.append(nb::make_tuple(
          argument.name(), type,
          argument.array ? direction_name(argument.array->direction) : std::string_view("in")));
    }
    kernels.append(nb::make_tuple(kernel->name, parameters));
  }
  return kernels;
}

// (kernels or None, [(is error, line, column, message, mend, text), …], errors' text)
nb::tuple read_text(const std::string& text, const std::string& name) {
  if (text.size() > px::Source::kMostBytes) {
    raise({ErrorCode::exhausted, name + " is larger than " +
                                     std::to_string(px::Source::kMostBytes) + " bytes: split it"});
  }
  std::optional<px::Source> source;
  px::Diagnostics diagnostics;
  std::optional<px::Lowered> lowered;
  {
    const ReleasedGil released;
    source.emplace(name, text);
    lowered = px::read(*source, diagnostics);
  }
  nb::list list;
  for (const px::Diagnostic& diagnostic : diagnostics.sorted()) {
    const px::Position at = source->position(diagnostic.span.begin);
    list.append(nb::make_tuple(diagnostic.severity == px::Severity::error, at.line, at.column,
                               diagnostic.what, diagnostic.mend, px::render(*source, diagnostic)));
  }
  const nb::object kernels = lowered ? nb::object(kernels_of(lowered->module)) : nb::none();
  return nb::make_tuple(kernels, list, px::render(*source, diagnostics));
}

px::Target target_of(const std::string& target) {
  for (const px::Target known :
       {px::Target::automatic, px::Target::cpu, px::Target::cuda, px::Target::interpreter}) {
    if (target == px::name(known)) return known;
  }
  raise({ErrorCode::invalid_argument,
         "no target " + target + ": give \"auto\", \"cpu\", \"cuda\" or \"interpreter\""});
}

}  // namespace
}  // namespace hoist::python

NB_MODULE(_px, module) {
  using namespace hoist::python;
  refuse_subinterpreters("hoist");
  nb::set_leak_warnings(false);
  watch_interpreters_end();
  module.def("read_text", &read_text, "text"_a, "name"_a);
  nb::class_<PxProgram>(module, "Program")
      .def(
          "__init__",
          [](PxProgram* at, const std::string& name, const std::string& text,
             const std::string& target, bool check_bounds) {
            new (at) PxProgram(name, text, target_of(target), check_bounds);
          },
          "name"_a, "text"_a, "target"_a, "check_bounds"_a)
      .def("launch", &PxProgram::launch, "kernel"_a, "arguments"_a, "blocks"_a.none(),
           "threads"_a.none());
}
