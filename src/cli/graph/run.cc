#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest_word.h"
#include "cli/array_file.h"
#include "cli/assignments.h"
#include "cli/graph/commands.h"
#include "cli/graph/read_program.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "graph/text/names.h"

namespace hoist::cli {
namespace {

using graph::program::Node;
using graph::program::Program;

constexpr const char* kCommand = "hoist graph run";

Error refuse(std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); }

// The file of each array, by its place; empty where none is given.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& names,
                                          const std::string& option,
                                          const std::vector<std::string>& texts) {
  const Result<std::vector<Assignment>> given = assignments(kCommand, option, texts);
  if (!given) return given.error();
  std::vector<std::string> known;
  for (size_t i = 0; i < names.size(); ++i) known.push_back(array_name(names, i));
  std::vector<std::string> files(names.size());
  for (const Assignment& one : *given) {
    const auto found = std::find(known.begin(), known.end(), one.name);
    if (found == known.end()) {
      const std::string nearest = nearest_word(one.name, known);
      return refuse(fmt::format("no array {} ({}): {}", one.name, option,
                                nearest.empty()
                                    ? fmt::format("the file has {}", fmt::join(known, ", "))
                                    : fmt::format("is it {}?", nearest)));
    }
    files[static_cast<size_t>(found - known.begin())] = one.value;
  }
  return files;
}

Result<std::vector<std::byte>> read_input(const std::string& file, const Node& node,
                                          const std::string& name) {
  Result<ArrayContent> content = read_array(file, *ir::scalar_of(node.dtype));
  if (!content) return content.error();
  const graph::program::Extents shape(content->shape.begin(), content->shape.end());
  const bool is_raw = !file.ends_with(".npy");
  const bool fits = is_raw ? shape[0] == node.elements() : shape == node.shape;
  if (fits) return std::move(content->bytes);
  return refuse(
      fmt::format("{} has {}, and the program's array {} is {}: give an array of that shape", file,
                  graph::text::type_text(node.dtype, shape), name,
                  graph::text::type_text(node.dtype, node.shape)));
}

Status write_outputs(const Program& program, const std::vector<std::string>& files,
                     const std::vector<std::vector<std::byte>>& results, const OutputRule& rule) {
  std::vector<OutputFile> written;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    const Node& node = program.output(i);
    Result<OutputFile> file = write_array(files[i], *ir::scalar_of(node.dtype),
                                          {node.shape.begin(), node.shape.end()}, results[i], rule);
    if (!file) return file.error();
    written.push_back(*std::move(file));
  }
  return OutputFile::publish_all(written);
}

Status run(const ReadProgram& read, const GraphRunOptions& options) {
  const Program& program = *read.program;
  const auto inputs = files_of(read.graph.inputs, "--in", options.inputs);
  if (!inputs) return inputs.error();
  const auto outputs = files_of(read.graph.outputs, "--out", options.outputs);
  if (!outputs) return outputs.error();
  std::vector<std::string> sources = {options.file};
  sources.insert(sources.end(), inputs->begin(), inputs->end());
  std::erase(sources, "");
  const OutputRule rule = output_rule(options.force, sources);
  for (const std::string& file : *outputs) {
    if (file.empty()) continue;
    if (Status may = check_output(file, rule); !may) return may;
  }
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> from;
  for (size_t i = 0; i < inputs->size(); ++i) {
    const std::string name = array_name(read.graph.inputs, i);
    if ((*inputs)[i].empty()) {
      return refuse(fmt::format("no array {} (hoist graph run): give --in {}=FILE", name, name));
    }
    auto bytes = read_input((*inputs)[i], program.input(i), name);
    if (!bytes) return bytes.error();
    memory.push_back(*std::move(bytes));
    from.push_back(memory.back().data());
  }
  std::vector<std::vector<std::byte>> results;
  std::vector<void*> to;
  for (size_t i = 0; i < program.outputs(); ++i) {
    const Node& node = program.output(i);
    results.emplace_back(static_cast<size_t>(node.elements()) *
                         graph::program::bytes_of(node.dtype));
    to.push_back(results.back().data());
  }
  if (Status done = program.run(from, to); !done) return done;
  return write_outputs(program, *outputs, results, rule);
}

}  // namespace

int graph_run(const GraphRunOptions& options) {
  try {
    int status = kDone;
    const std::optional<ReadProgram> read = read_program(options.file, options.fast_math, status);
    if (!read) return status;
    const Status done = run(*read, options);
    return done ? kDone : report(done.error());
  } catch (const std::bad_alloc&) {
    return report(fail(ErrorCode::exhausted, "no memory for the program's arrays"));
  }
}

}  // namespace hoist::cli
