// hoist graph: tensor programs, and circuits over the 96 classes of bytes.
#include <memory>

#include "cli/command.h"
#include "cli/graph/commands.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

void add_source(CLI::App* command, CircuitSource& source) {
  command->add_option("EXPR", source.expression, "The circuit; - is standard input");
  command->add_option("--file", source.file, "Read the circuit from there")->type_name("FILE");
  command
      ->add_option("--grammar", source.grammar,
                   "compiler: copy names source and destination; spec: it names one class")
      ->check(CLI::IsMember({"compiler", "spec"}))
      ->type_name("GRAMMAR")
      ->capture_default_str();
}

void add_canon(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("canon", "Print the canonical text of a circuit");
  auto options = std::make_shared<GraphCanonOptions>();
  add_source(command, options->source);
  // Two flags: one that negates would show its value in the help.
  command->add_flag_callback(
      "--gates", [options] { options->gates = true; },
      "Marks and copies of some classes are gates where nothing reads what they would write, "
      "unless the next one is given");
  command->add_flag_callback(
      "--no-gates", [options] { options->gates = false; }, "All are operations on memory");
  command->add_flag("--json", options->json, "Print it as JSON, with the rules that were used");
  command->footer(
      "Exit status 1 where a file has errors, 2 where EXPR has.\n\n"
      "Examples:\n"
      "  hoist graph canon 'mark@c21 . mark@c21'\n"
      "  hoist graph canon --json 'copy@c05->c06 . mark@c21'\n"
      "  echo 'copy@c05 . mark@c21' | hoist graph canon --grammar spec -");
  command->callback([&status, options] { status = graph_canon(*options); });
}

void add_eval(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("eval", "Print the bytes, addresses and words of a circuit");
  auto options = std::make_shared<GraphEvalOptions>();
  add_source(command, options->source);
  command->add_flag("--json", options->json, "Print them as JSON");
  command->footer(
      "Exit status 1 where a file has errors, 2 where EXPR has.\n\n"
      "Examples:\n"
      "  hoist graph eval 'mark@c42^+3~@17'\n"
      "  hoist graph eval --grammar spec --json 'R+1@ (copy@c05 . evaluate@c21)'");
  command->callback([&status, options] { status = graph_eval(*options); });
}

void add_fast_math(CLI::App* command, bool& fast_math) {
  command->add_flag("--fast-math", fast_math,
                    "Allow what rounds otherwise, or is wrong for infinities, NaN or -0");
}

void add_show(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("show", "Say how a tensor program is fused, and draw it");
  auto options = std::make_shared<GraphShowOptions>();
  command->add_option("FILE", options->file, "The program's text")->required();
  command->add_option("-o", options->picture, "Draw the nodes, grouped by kernel, into an SVG file")
      ->type_name("SVG");
  add_force(command, options->force);
  add_fast_math(command, options->fast_math);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Exit status 1 where the file has errors.\n\n"
      "Example:\n"
      "  hoist graph show layer.graph -o layer.svg");
  command->callback([&status, options] { status = graph_show(*options); });
}

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a tensor program on arrays of files");
  auto options = std::make_shared<GraphRunOptions>();
  const auto add_list = [&](const char* name, auto& values, const char* description) {
    command->add_option(name, values, description)
        ->type_name("ARRAY=FILE")
        ->allow_extra_args(false)
        ->take_all();
  };
  command->add_option("FILE", options->file, "The program's text")->required();
  add_list("--in", options->inputs, "Read an input, .npy or raw");
  add_list("--out", options->outputs, "Write an output, .npy or raw");
  add_force(command, options->force);
  add_fast_math(command, options->fast_math);
  command->footer(
      "Arrays without a name have their number: --out 0=y.npy.\n\n"
      "Example:\n"
      "  hoist graph run layer.graph --in x=x.npy --out y=result.npy");
  command->callback([&status, options] { status = graph_run(*options); });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Tensor programs, and circuits over the 96 classes of bytes.", argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist graph show layer.graph\n"
      "  hoist graph canon 'mark@c21 . mark@c21'\n"
      "  hoist graph eval 'copy@c05->c06'");
  int status = kDone;
  add_show(app, status);
  add_run(app, status);
  add_canon(app, status);
  add_eval(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
