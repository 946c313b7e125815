// hoist graph: circuits over the 96 classes of bytes.
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

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Circuits over the 96 classes of bytes.", argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist graph canon 'mark@c21 . mark@c21'\n"
      "  hoist graph eval 'copy@c05->c06'");
  int status = kDone;
  add_canon(app, status);
  add_eval(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
