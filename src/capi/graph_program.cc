// Texts of graphs, and the programs that they become.
#include <utility>

#include "capi/graph_handles.h"
#include "capi/status.h"
#include "capi/structs.h"
#include "capi/text.h"
#include "graph/text/names.h"
#include "graph/text/picture.h"
#include "graph/text/report.h"

namespace hoist::capi {
namespace {

namespace gp = graph::program;

// Type names are those of all programs: they stay.
const char* lasting_name(gp::DType dtype) {
  static const std::vector<std::string>* const names = [] {
    auto* const all = new std::vector<std::string>;
    for (const array::DTypeProperties& type : array::all_dtypes()) {
      all->push_back(graph::text::type_name(type.dtype));
    }
    return all;
  }();
  return (*names)[static_cast<size_t>(dtype)].c_str();
}

}  // namespace

hoist_graph_array array_of(const gp::Node& node, const char* name) {
  hoist_graph_array array{};
  array.name = name;
  array.type = lasting_name(node.dtype);
  array.axes = node.shape.size();
  std::copy(node.shape.begin(), node.shape.end(), array.shape);
  array.bytes = static_cast<size_t>(node.elements()) * gp::bytes_of(node.dtype);
  return array;
}

namespace {

std::unique_ptr<hoist_graph_program> program_of(const graph::text::NamedGraph& named,
                                                std::shared_ptr<const gp::Program> compiled) {
  auto made = std::make_unique<hoist_graph_program>();
  made->program = std::move(compiled);
  made->input_names = named.inputs;
  made->output_names = named.outputs;
  for (size_t i = 0; i < made->program->inputs(); ++i) {
    made->inputs.push_back(array_of(made->program->input(i), made->input_names[i].c_str()));
  }
  for (size_t i = 0; i < made->program->outputs(); ++i) {
    made->outputs.push_back(array_of(made->program->output(i), made->output_names[i].c_str()));
  }
  return made;
}

// `make` gives the text of what is there.
template <typename Make>
hoist_status giving_text(const void* handle, const char* what, char** text, const Make& make) {
  return guarded([&]() -> Status {
    if (Status there = needed(text, "text"); !there) return there;
    *text = nullptr;
    if (Status there = needed(handle, what); !there) return there;
    *text = text_of(make());
    return {};
  });
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;

extern "C" {

hoist_status hoist_graph_parse(const char* text, const char* name, hoist_graph** graph) {
  return guarded([&]() -> Status {
    if (Status there = needed(graph, "graph"); !there) return there;
    *graph = nullptr;
    if (Status there = needed(text, "text"); !there) return there;
    auto read = hoist::graph::text::parse(text, name == nullptr ? "<text>" : name);
    if (!read) return read.error();
    *graph = new hoist_graph{*std::move(read)};
    return {};
  });
}

hoist_status hoist_graph_text(const hoist_graph* graph, char** text) {
  return giving_text(graph, "graph", text, [&] { return hoist::graph::text::print(graph->named); });
}

hoist_status hoist_graph_compile(const hoist_graph* graph,
                                 const hoist_graph_compile_options* options,
                                 hoist_graph_program** program) {
  return guarded([&]() -> Status {
    if (Status there = needed(program, "program"); !there) return there;
    *program = nullptr;
    if (Status there = needed(graph, "graph"); !there) return there;
    const auto own = options_of(options, "hoist_graph_compile_options");
    if (!own) return own.error();
    hoist::graph::program::CompileOptions how;
    how.fast_math = own->fast_math != 0;
    how.fuses = own->no_fusion == 0;
    how.threads = static_cast<int>(std::min(own->threads, uint32_t{1024}));
    auto compiled = hoist::graph::program::Program::compile(graph->named.graph, how);
    if (!compiled) return compiled.error();
    *program = program_of(graph->named, *std::move(compiled)).release();
    return {};
  });
}

void hoist_graph_program_free(hoist_graph_program* program) { delete program; }

size_t hoist_graph_input_count(const hoist_graph_program* program) {
  return program == nullptr ? 0 : program->inputs.size();
}

const hoist_graph_array* hoist_graph_input_array(const hoist_graph_program* program, size_t i) {
  return i < hoist_graph_input_count(program) ? &program->inputs[i] : nullptr;
}

size_t hoist_graph_output_count(const hoist_graph_program* program) {
  return program == nullptr ? 0 : program->outputs.size();
}

const hoist_graph_array* hoist_graph_output_array(const hoist_graph_program* program, size_t i) {
  return i < hoist_graph_output_count(program) ? &program->outputs[i] : nullptr;
}

hoist_status hoist_graph_get_report(const hoist_graph_program* program,
                                    hoist_graph_report* report) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(report, "hoist_graph_report");
    if (!size) return size.error();
    give(hoist_graph_report{}, *size, report);
    if (Status there = needed(program, "program"); !there) return there;
    const hoist::graph::program::Report& own = program->program->report();
    hoist_graph_report facts{};
    facts.nodes_traced = own.nodes_traced;
    facts.nodes_left = own.nodes_left;
    facts.kernels = own.kernels.size();
    facts.bytes_moved = own.bytes_moved;
    facts.arena_bytes = own.arena_bytes;
    give(facts, *size, report);
    return {};
  });
}

hoist_status hoist_graph_explain(const hoist_graph_program* program, char** text) {
  return giving_text(program, "program", text,
                     [&] { return hoist::graph::text::report_text(*program->program); });
}

hoist_status hoist_graph_svg(const hoist_graph_program* program, const char* title, char** svg) {
  return giving_text(program, "program", svg, [&] {
    return hoist::graph::text::picture(*program->program, title == nullptr ? "program" : title);
  });
}

}  // extern "C"
